export { holdAhead, type AheadWorld, type Held, type LocalStart, type Reserved } from './hold-ahead.ts';
export {
  aheadTraces,
  leadRules,
  listPolicies,
  measureAhead,
  openWorld,
  reservationsOf,
  widthShares,
  type AheadMeasured,
  type AheadSettings,
  type AheadSetup,
} from './measure.ts';
export { aheadCsv, reportAhead } from './report.ts';
