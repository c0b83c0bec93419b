export { bucClaims, changesOf, scoresOf, type BucClaim, type BucFinding } from './claims.ts';
export {
  chooseRealUsers,
  measureBuc,
  summarizeRun,
  waitsOf,
  type BucMeasured,
  type BucRun,
  type UserOutcome,
  type WatchedUser,
} from './measure.ts';
export { bucCsv, reportBuc, type BucReport } from './report.ts';
export {
  bucLogs,
  families,
  injectedUsers,
  injectionsOf,
  loadFactors,
  type BucLog,
  type BucSettings,
  type Service,
  type ServiceFamily,
} from './setups.ts';
export { inject, traceOf, type BucTrace } from './trace.ts';
