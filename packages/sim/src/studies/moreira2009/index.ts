export { claims, type Claim, type Finding } from './claims.ts';
export { getHeterogeneity, getPlatform, studyClusters, type StudyCluster } from './clusters.ts';
export {
  drawArrivals,
  drawEdges,
  drawShapes,
  jobCount,
  taskCount,
  type JobReading,
  type JobShape,
} from './draw-jobs.ts';
export { drawMap } from './figures.ts';
export {
  getDifference,
  drawOf,
  getDraws,
  listMakespans,
  measureCluster,
  readings,
  getSpread,
  workflowRunsCsv,
  type ClusterRuns,
  type Reading,
  type ReadingRuns,
  type RunMeasures,
  type WorkflowStudySettings,
} from './measure.ts';
export { reportWorkflows, type WorkflowReport } from './report.ts';
export { listOtherStrategies, listSeedStrategies, runStrategy, type Strategy } from './strategies.ts';
