export type {
  DraftedRequest, PendingRequest, RequestDecision, RequestDemand, RequestFacts, RequestHeuristic, ServedRequest,
} from './heuristic.ts';
export { findHeuristic, heuristicNames } from './heuristics.ts';
export { staticHeuristic } from './static.ts';
