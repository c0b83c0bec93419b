import type { Reason } from '../reasons/index.ts';
import { draftAdaptively, adaptiveHeuristic } from './adaptive.ts';
import type { DraftedRequest, RequestDecision, RequestFacts, RequestHeuristic } from './heuristic.ts';
import { findObstacle, getFreeSlots, getLanesMax, longestWalltime } from './obstacle.ts';
import { isFirstDecision } from './options.ts';

/**
 * Asks for one request of the largest area at the first decision and for the others adaptively; later it is adaptive.
 *
 * @source costa2005, Alg. 3.4:  maxPR - |M^p| - 1 requests as Alg. 3.3 chooses and scales them, then (maxP, maxT_r)
 * Departs from the source: no; the one of the largest area is added after the scaling there too.
 */
export const mixedHeuristic: RequestHeuristic = {
  name: 'mixed',
  expectsLongTasks: true,
  draft(facts) {
    const obstacle = findObstacle(facts);
    if (obstacle !== undefined) return { drafts: [], reasons: [obstacle] };
    return isFirstDecision(facts) ? draftFirst(facts) : adaptiveHeuristic.draft(facts);
  },
};

function draftFirst(facts: RequestFacts): RequestDecision {
  const decision = draftAdaptively(facts, getFreeSlots(facts) - 1);
  const reason: Reason = { code: 'mixed-largest-request' };
  const largest: DraftedRequest = {
    width: getLanesMax(facts) * facts.demand.processors,
    walltime: longestWalltime(facts.limits),
    reasons: [reason],
  };
  return { ...decision, drafts: [...decision.drafts, largest], reasons: [...decision.reasons, reason] };
}
