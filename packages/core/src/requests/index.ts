export type {
  DraftedRequest, HeuristicOptions, PendingRequest, QueueView, RequestCandidate, RequestDecision, RequestDemand, RequestFacts, RequestHeuristic, ServedRequest,
} from './heuristic.ts';
export { findHeuristic, heuristicNames } from './heuristics.ts';
export { heuristicDefaults } from './options.ts';
export { staticHeuristic } from './static.ts';
