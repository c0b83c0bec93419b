export { exportHeuristicsJdf, type HeuristicsExport } from './export-jdf.ts';
export { findLosses, lossBelow, listTimes, type Loss } from './losses.ts';
export { LocalWatch, type LocalWaits } from './local-waits.ts';
export { decodeResult, encodeResult, type HeuristicsPart, type HeuristicsResult } from './records.ts';
export { reportHeuristics, type HeuristicsReport } from './report.ts';
export { mostInAnHour } from './request-rates.ts';
export { getPolicy, runChunk, usualWalltime, type HeuristicRun } from './run-chunk.ts';
export { groupScenarios, getHeldOut, type Scenario, type ScenarioGroup } from './scenario-times.ts';
export {
  findCandidate,
  estimateCost,
  countRuns,
  heuristicsTraces,
  isHeldOut,
  listChunks,
  mainPending,
  mainTypes,
  partNames,
  policyNames,
  referenceNames,
  wholeStudy,
  type HeuristicsChunk,
  type HeuristicsSettings,
  type HeuristicsTrace,
  type PartName,
  type PolicyName,
} from './scenarios.ts';
export { geometricMean, ratioOfMeans, Resampling, getSpeedup, type Interval, type PairedTimes } from './statistics.ts';
