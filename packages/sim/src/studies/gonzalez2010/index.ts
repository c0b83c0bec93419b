export { placementRunsCsv, StudyResults, type MeasuredPart } from './compare.ts';
export { exportPlacementJdf } from './export-jdf.ts';
export { measurePart, getTheoremRatio, type PartResult } from './measure-part.ts';
export { costOfPart, listCases, listParts, type PlacementPart, type PlacementStudySettings } from './parts.ts';
export { decodePart, encodePart } from './records.ts';
export { reportPlacement, type PlacementReport } from './report.ts';
export { allProcessors, clusterSizes, experimentTasks, mixes, sampleExperiment, scaleToLoad } from './workload.ts';
