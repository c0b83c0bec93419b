export { preAcquire, type AheadWorld, type Held, type LocalStart, type Reserved } from './pre-acquire.ts';
export {
  aheadTraces,
  leadRules,
  listPolicies,
  measureAhead,
  openWorld,
  reservationsOf,
  widthShares,
  type AheadMeasured,
  type ProvisioningSettings,
  type AheadSetup,
} from './measure.ts';
export { aheadCsv, reportAhead } from './report.ts';
