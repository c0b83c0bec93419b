export { AdaptiveAdmissibility, adaptiveDefaults, type AdaptiveOptions } from './adaptive.ts';
export { AdmissibleSets, type AdmissibleRange } from './admissible.ts';
export { getBound, type CompetitiveBound } from './bound.ts';
export { explainChoice, roundAdmissibility } from './explain-choice.ts';
export type {
  CountKnown,
  KnowledgeLevel,
  ResourceSeenAt,
  ScheduleKnown,
  SizeKnown,
  TaskSeenAt,
  WalltimeKnown,
  WidthKnown,
} from './knowledge.ts';
export { boundedSlowdownThreshold, measurePlacement, placementMetrics, type FinishedTask } from './metrics.ts';
export {
  PlacementTable,
  type LackOfKnowledge,
  type PlacedTask,
  type PlacementDecision,
  type PlacementResource,
  type PlacementRules,
  type TooWideTask,
} from './placement.ts';
export { readPlacement, readPlacementChoice, type PlacementChoice } from './read-choice.ts';
export { QueueModel, type AssignedTask, type CountedTasks, type ReportedQueue } from './queue-model.ts';
export { findPlacementStrategy, placementStrategies, strategyOfLevel } from './strategies/index.ts';
export type { PlacementStrategy, Situation, Strategy } from './strategy.ts';
