export { bucClaims, listChanges, findScores, type BucClaim, type BucFinding } from './claims.ts';
export {
  chooseRealUsers,
  measureBuc,
  summarizeRun,
  listWaits,
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
  getInjections,
  loadFactors,
  type BucLog,
  type BucSettings,
  type Service,
  type ServiceFamily,
} from './setups.ts';
export { inject, getTrace, type BucTrace } from './trace.ts';
