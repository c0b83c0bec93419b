export { claims, type Claim, type Finding } from './claims.ts';
export { heterogeneityOf, platformOf, studyClusters, type StudyCluster } from './clusters.ts';
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
  differenceOf,
  drawOf,
  drawsOf,
  makespansOf,
  measureCluster,
  readings,
  spreadOf,
  workflowRunsCsv,
  type ClusterRuns,
  type Reading,
  type ReadingRuns,
  type RunMeasures,
  type WorkflowStudySettings,
} from './measure.ts';
export { reportWorkflows, type WorkflowReport } from './report.ts';
export { listOtherStrategies, listSeedStrategies, runStrategy, type Strategy } from './strategies.ts';
