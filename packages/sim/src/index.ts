export { runGrid, type TraceLine } from './grid/run-grid.ts';
export { GridJob, type GridJobSetup } from './grid/grid-job.ts';
export { drawTaskTimes, longestTaskTime, sampleJob, type Heterogeneity, type JobSample, type JobScenario } from './grid/sample-jobs.ts';
export { LocalHistory } from './resource/local-history.ts';
export { scaleSubmissions } from './resource/scale-submissions.ts';
export { SimulatedResource, type ResourceSetup } from './resource/simulated-resource.ts';
export { measureTrace, slowdownThreshold, type ServedLocally, type TraceMetrics } from './resource/trace-metrics.ts';
export { summarize, type Summary } from './summarize.ts';
