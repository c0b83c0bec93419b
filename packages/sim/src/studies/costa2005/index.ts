export type { StudyPart } from './compare.ts';
export { decodeChunk, encodeChunk, type ChunkResult, type ChunkRun, type TraceFacts } from './records.ts';
export { exportJdf, type ExportPlaces } from './export-jdf.ts';
export { reportStudy, type StudyReport } from './report.ts';
export { runChunk } from './run-chunk.ts';
export {
  countRuns, jobTypes, listChunks, nameType, requestsMaxima, studyHeuristics, studyTraces,
  type JobType, type StudyChunk, type StudyHeuristic, type StudySettings, type StudyTrace,
} from './scenarios.ts';
export { meanOfRatios, ratioOfSums, type Estimate, type PairedValues } from './statistics.ts';
export { studyVariants, type StudyVariant } from './variants.ts';
