export {
  joinWorkflows,
  scheduleArrivals,
  scheduleExclusively,
  type Arrival,
  type ArrivalResult,
  type ArrivalSetup,
} from './arrivals.ts';
export { auto, candidates, chooseSchedule, gridPlanners, workflowSchedulers } from './auto.ts';
export { isSamePlace, tableCosts, type CostModel, type CostTables, type Sender } from './cost-model.ts';
export { cpop } from './cpop.ts';
export { explainPlacement } from './explain-placement.ts';
export { heft } from './heft.ts';
export { hlfet } from './hlfet.ts';
export { hpts, ihpts, withoutOverlap } from './hpts.ts';
export { bLevels, findCriticalPath, tLevels, tailLevels, type CriticalPath, type LevelCosts } from './levels.ts';
export { findBound, measureSchedule, type ScheduleMeasures } from './measures.ts';
export { operationCost, operations, type Operation } from './operations.ts';
export { platformCosts, type Platform, type PlatformProcessor } from './platform.ts';
export {
  getLastEnd,
  getMakespan,
  type Placement,
  type PlacementReason,
  type PlacementRule,
  type Schedule,
} from './schedule.ts';
export { findScheduleFault, type ScheduleFault } from './schedule-fault.ts';
export { freshProblem, type SchedulingProblem, type WorkflowScheduler } from './scheduling-problem.ts';
export {
  listEdges,
  makeWorkflow,
  type EdgeDraft,
  type TaskDraft,
  type Workflow,
  type WorkflowDraft,
  type WorkflowEdge,
  type WorkflowTask,
} from './workflow.ts';
export { measureShape, type WorkflowShape } from './shape.ts';
export { findTooWide, findWorkflowFault, type WorkflowFault, type WorkflowFaultCode } from './workflow-fault.ts';
