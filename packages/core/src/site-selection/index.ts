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
export { boundedSlowdownThreshold, measurePlacement, siteSelectionMetrics, type FinishedTask } from './metrics.ts';
export {
  SiteSelectionTable,
  type LackOfKnowledge,
  type AssignedResource,
  type SiteSelectionDecision,
  type SiteSelectionResource,
  type SiteSelectionRules,
  type TooWideTask,
} from './site-selection.ts';
export { readSiteSelection, readSiteSelectionChoice, type SiteSelectionChoice } from './read-choice.ts';
export { QueueModel, type AssignedTask, type CountedTasks, type ReportedQueue } from './queue-model.ts';
export { findSiteSelectionStrategy, siteSelectionStrategies, strategyOfLevel } from './strategies/index.ts';
export type { SiteSelectionStrategy, Situation, Strategy } from './strategy.ts';
