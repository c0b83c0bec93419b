import type { Reason } from '../reasons/index.ts';
import { chooseRequests, keepEarliest, scaleRequests, showCandidates } from './choose-requests.ts';
import { estimateTaskTime } from './estimate-task-time.ts';
import { findCandidates } from './find-candidates.ts';
import type { DraftedRequest, RequestDecision, RequestFacts, RequestHeuristic } from './heuristic.ts';
import { findObstacle, getFreeSlots, isBounded, tasksWithoutSlot } from './obstacle.ts';
import { listOptions } from './options.ts';
import { perHour, getThroughput } from './throughput.ts';

/**
 * Asks for the set of requests whose throughput is best, among those that fill holes of the queue or wait behind its
 * end.
 *
 * @source costa2005, Alg. 3.3
 * Departs from the source: see `estimateTaskTime`, `findCandidates`, `getThroughput`, `chooseRequests` and
 * `scaleRequests`. Where it is
 * known how many tasks have no place, those are |T^p|, and of the scaled requests only the earliest that hold them are
 * asked for.
 */
export const adaptiveHeuristic: RequestHeuristic = {
  name: 'adaptive',
  draft(facts) {
    const obstacle = findObstacle(facts);
    return obstacle === undefined ? draftAdaptively(facts, getFreeSlots(facts)) : { drafts: [], reasons: [obstacle] };
  },
};

/**
 * Fills `slots` request slots adaptively; there is no obstacle. Cost: that of `findCandidates` and `chooseRequests`.
 */
export function draftAdaptively(facts: RequestFacts, slots: number): RequestDecision {
  const { now, demand } = facts;
  const estimate = estimateTaskTime(facts);
  const candidates = findCandidates(facts, estimate.time);
  const choices = chooseRequests(candidates, slots, { now, exchange: listOptions(facts).exchange });
  const tasks = tasksWithoutSlot(facts);
  const scaled = scaleRequests(choices, tasks, demand.processors, now);
  const kept = isBounded(facts)
    ? keepEarliest(choices, scaled, tasks * demand.processors)
    : choices.map((choice, index) => ({ choice, draft: scaled[index] as DraftedRequest }));
  const drafts = kept.map(({ draft }) => ({ ...draft, reasons: [...draft.reasons, estimate.reason] }));
  const holeCount = candidates.length - facts.limits.requestsMax;
  const throughput = getThroughput(
    choices.map(({ candidate }) => candidate),
    now,
  );
  const choice: Reason = {
    code: 'adaptive-choice',
    chosenCandidates: choices.length,
    candidates: candidates.length,
    gapCandidates: holeCount,
    endCandidates: facts.limits.requestsMax,
    tasksPerHour: perHour(throughput),
  };
  const bound: Reason = { code: 'adaptive-earliest-only', requests: kept.length, unplacedTasks: tasks };
  const reasons = [choice, ...(kept.length === choices.length ? [] : [bound]), estimate.reason];
  return {
    drafts,
    reasons,
    candidates: showCandidates(
      candidates,
      kept.map(({ choice }) => choice),
      now,
    ),
    taskTimeEstimate: estimate.time,
  };
}
