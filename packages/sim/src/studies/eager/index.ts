export type { BagPolicy, BagResult, BagSetup, DataSetup } from './bag-setup.ts';
export { compareAll, comparisonsCsv, type Comparison } from './compare.ts';
export { recordsCsv, runScenario, type PolicyRuns } from './records.ts';
export { reportEager, type EagerReport } from './report.ts';
export { runBag } from './run-bag.ts';
export {
  dataPolicies,
  listScenarios,
  policies,
  getPolicies,
  reference,
  listRuns,
  type EagerScenario,
  type EagerSettings,
  type NamedPolicy,
} from './scenarios.ts';
