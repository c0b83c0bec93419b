import type { HeuristicOptions, RequestFacts } from './heuristic.ts';

/** What was settled for this project. */
export const heuristicDefaults: HeuristicOptions = {
  defaultTime: 600_000,
  holes: 'in-order',
  holeWalltime: 'whole-tasks',
  staticWidth: 'share',
  exchange: 'best',
};

/** The options of a decision. */
export function listOptions({ options }: RequestFacts): HeuristicOptions {
  return options ?? heuristicDefaults;
}

/** Whether this is the decision at which the job is submitted, now = u_g^s. */
export function isFirstDecision({ isFirst, pending, served }: RequestFacts): boolean {
  return isFirst ?? (pending.length === 0 && served.length === 0);
}
