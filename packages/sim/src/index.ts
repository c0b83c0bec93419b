export { runGrid, type TraceLine } from './grid/run-grid.ts';
export { GridJob, type GridJobSetup } from './grid/grid-job.ts';
export {
  drawTaskTimes,
  longestTaskTime,
  sampleJob,
  type Heterogeneity,
  type JobSample,
  type JobScenario,
} from './grid/sample-jobs.ts';
export { LocalHistory } from './resource/local-history.ts';
export { scaleSubmissions } from './resource/scale-submissions.ts';
export { SimulatedResource, type ResourceSetup } from './resource/simulated-resource.ts';
export { measureTrace, slowdownThreshold, type ServedLocally, type TraceMetrics } from './resource/trace-metrics.ts';
export { shareWithInterval, summarize, type Summary } from './summarize.ts';
export { BrokerGrid, type BrokerGridSetup, type SimulatedMachine } from './workflows/broker-grid.ts';
export { withFailures, type FailureLog } from './world/failure-trace.ts';
export { drawScenario } from './world/draw-scenario.ts';
export {
  cautiousScenario,
  doubtfulScenario,
  gentleScenario,
  racingScenario,
  regretfulScenario,
  finishingScenario,
  forgetfulScenario,
  heldScenario,
  preemptingScenario,
  signallingScenario,
  nodesScenario,
  resourcefulScenario,
  sleepyScenario,
} from './world/special-scenarios.ts';
export type { WorldTurn } from './world/machine-process.ts';
export { noTimeLost, usualPace, type Pace } from './world/pace.ts';
export { ScenarioError } from './world/read-fields.ts';
export { readScenario } from './world/read-scenario.ts';
export { runWorld, type WorldFailure, type WorldResult } from './world/run-world.ts';
export {
  calmFaults,
  honestManager,
  type ClusterPlan,
  type FaultPlan,
  type JobPlan,
  type LabMachinePlan,
  type LabPlan,
  type LeasePlan,
  type LocalPlan,
  type ManagerFaults,
  type Scenario,
} from './world/scenario.ts';
export { kindOfFailure, shrinkScenario, type Shrinking, type ShrunkScenario } from './world/shrink-scenario.ts';
export { idsInText, reportStory, type WorldStory } from './world/report-story.ts';
export { traceTurn } from './world/trace-turn.ts';
export type { WorldEvent, WorldEventKind } from './world/world-event.ts';
export { World, worldStart, type WorldOptions } from './world/world.ts';
export {
  runSiteSelection,
  type SiteSelectionRun,
  type SiteSelectionSetup,
} from './site-selection/run-site-selection.ts';
export { drawSchedule, type ScheduleMap } from './svg/draw-schedule.ts';
