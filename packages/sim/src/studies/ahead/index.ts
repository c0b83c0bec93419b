export { preAcquire, type PreAcquiringWorld, type Held, type LocalStart, type Reserved } from './pre-acquire.ts';
export {
  aheadTraces,
  leadRules,
  listPolicies,
  measureAhead,
  openWorld,
  getReservations,
  widthShares,
  type ProvisioningMeasured,
  type ProvisioningSettings,
  type AheadSetup,
} from './measure.ts';
export { aheadCsv, reportProvisioning } from './report.ts';
