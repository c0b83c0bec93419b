export type { RequestCandidate } from '../messages/index.ts';
export { adaptiveHeuristic } from './adaptive.ts';
export { estimateTaskTime, type TaskTimeEstimate } from './estimate-task-time.ts';
export { RequestBudget, requestBudget } from './budget.ts';
export { finishConstants, finishHeuristic, finishWith, type FinishConstants } from './finish/index.ts';
export { groupTasks, joinGroups } from './group-tasks.ts';
export {
  reviewPauseMin,
  taskGroupsMax,
  type BudgetLeft,
  type DraftedRequest,
  type GivenUpRequest,
  type HeuristicOptions,
  type ObservedWait,
  type PendingRequest,
  type QueueView,
  type RequestDecision,
  type RequestDemand,
  type RequestFacts,
  type RequestHeuristic,
  type ServedRequest,
  type TaskGroup,
  type TaskSpread,
} from './heuristic.ts';
export { QueueForecast } from './forecast-start.ts';
export { listedRank, ownRank } from './own-rank.ts';
export { findHeuristic, heuristicChoices, heuristicNames } from './heuristics.ts';
export { initialHeuristic } from './initial.ts';
export { mixedHeuristic } from './mixed.ts';
export { nextReview } from './next-review.ts';
export { heuristicDefaults } from './options.ts';
export { readQueue } from './read-queue.ts';
export { staticHeuristic } from './static.ts';
export { getWaste } from './waste.ts';
