export type { StudyPart } from './compare.ts';
export { decodeChunk, encodeChunk, type ChunkResult, type ChunkRun, type TraceFacts } from './records.ts';
export { exportJdf, type ExportPlaces } from './export-jdf.ts';
export { estimateCost, isComplete, isStartsChunk, listParts, type AnyChunk } from './parts.ts';
export { reportStudy, type StudyReport, type StudyResults } from './report.ts';
export { runChunk } from './run-chunk.ts';
export {
  countRuns,
  jobTypes,
  listChunks,
  nameType,
  requestsMaxima,
  studyHeuristics,
  studyTraces,
  type JobType,
  type StudyChunk,
  type StudyHeuristic,
  type StudyLog,
  type StudySettings,
  type StudyTrace,
} from './scenarios.ts';
export { eventOrders, simulateAgain, type EventOrder, type SecondSetup } from './second-simulator.ts';
export {
  compareStarts,
  decodeStarts,
  encodeStarts,
  listStarts,
  type StartsChunk,
  type StartsPart,
  type StartsResult,
} from './starts.ts';
export {
  geometricMean,
  meanOfRatios,
  meanOfRunRatios,
  ratioOfSums,
  type Estimate,
  type PairedValues,
} from './statistics.ts';
export { studyVariants, usersVariant, type StudyVariant } from './variants.ts';
