import { plural } from '../shared/index.ts';
import { chooseRequests, scaleRequests, showCandidates } from './choose-requests.ts';
import { estimateTaskTime } from './estimate-task-time.ts';
import { findCandidates } from './find-candidates.ts';
import type { RequestDecision, RequestFacts, RequestHeuristic } from './heuristic.ts';
import { findObstacle, freeSlotsOf } from './obstacle.ts';
import { describeThroughput, throughputOf } from './throughput.ts';

/**
 * Asks for the set of requests whose throughput is best, among those that fill holes of the queue or wait behind its end.
 *
 * @source costa2005, Alg. 3.3
 * Departs from the source: see `estimateTaskTime`, `findCandidates`, `throughputOf`, `chooseRequests` and `scaleRequests`.
 */
export const adaptiveHeuristic: RequestHeuristic = {
  name: 'adaptive',
  draft(facts) {
    const obstacle = findObstacle(facts);
    return obstacle === undefined ? draftAdaptively(facts, freeSlotsOf(facts)) : { drafts: [], reasons: [obstacle] };
  },
};

/** Fills `slots` request slots adaptively; there is no obstacle. Cost: that of `findCandidates` and `chooseRequests`. */
export function draftAdaptively(facts: RequestFacts, slots: number): RequestDecision {
  const { now, demand } = facts;
  const estimate = estimateTaskTime(facts);
  const candidates = findCandidates(facts, estimate.time);
  const choices = chooseRequests(candidates, slots, now);
  const drafts = scaleRequests(choices, demand.pendingTasks, demand.processors, now)
    .map((draft) => ({ ...draft, reasons: [...draft.reasons, estimate.reason] }));
  const holeCount = candidates.length - facts.limits.requestsMax;
  const throughput = throughputOf(choices.map(({ candidate }) => candidate), now);
  const reasons = [
    `Chose ${choices.length} of ${plural(candidates.length, 'candidate')}, ${plural(holeCount, 'hole')} of the queue and ${facts.limits.requestsMax} behind its end, `
      + `for the throughput of all together, ${describeThroughput(throughput)}.`,
    estimate.reason,
  ];
  return { drafts, reasons, candidates: showCandidates(candidates, choices, now), taskTimeEstimate: estimate.time };
}
