export { siteSelectionRunsCsv, StudyResults, type MeasuredPart } from './compare.ts';
export { exportSiteSelectionJdf } from './export-jdf.ts';
export { measurePart, getTheoremRatio, type PartResult } from './measure-part.ts';
export { costOfPart, listCases, listParts, type SiteSelectionPart, type SiteSelectionStudySettings } from './parts.ts';
export { decodePart, encodePart } from './records.ts';
export { reportPlacement, type SiteSelectionReport } from './report.ts';
export { allProcessors, clusterSizes, experimentTasks, mixes, sampleExperiment, scaleToLoad } from './workload.ts';
