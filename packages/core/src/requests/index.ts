export type { RequestCandidate } from '../messages/index.ts';
export { adaptiveHeuristic } from './adaptive.ts';
export { estimateTaskTime, type TaskTimeEstimate } from './estimate-task-time.ts';
export type {
  DraftedRequest, HeuristicOptions, PendingRequest, QueueView, RequestDecision, RequestDemand, RequestFacts, RequestHeuristic, ServedRequest,
} from './heuristic.ts';
export { QueueForecast } from './forecast-start.ts';
export { findHeuristic, heuristicNames } from './heuristics.ts';
export { initialHeuristic } from './initial.ts';
export { mixedHeuristic } from './mixed.ts';
export { heuristicDefaults } from './options.ts';
export { staticHeuristic } from './static.ts';
export { wasteOf } from './waste.ts';
