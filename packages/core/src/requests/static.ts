import type { Reason } from '../reasons/index.ts';
import type { ProcessorCount } from '../shared/index.ts';
import type { DraftedRequest, RequestDecision, RequestFacts, RequestHeuristic } from './heuristic.ts';
import { findObstacle, getFreeSlots, isBounded, longestWalltime, tasksWithoutSlot } from './obstacle.ts';
import { listOptions } from './options.ts';

/**
 * Asks for the longest walltime in every free request slot, and spreads the pending tasks evenly over these requests.
 *
 * @source costa2005, Alg. 3.1: p = min(maxP, ceil(|T^p| / (maxPR - |M^p|))), t_r = maxT_r, for each of maxPR - |M^p|
 *   slots
 * Symbols: maxPR = `limits.requestsMax`, maxP = `limits.widthMax`, maxT_r = `limits.walltimeMax`, |M^p| =
 * `pending.length`,
 * |T^p| = `demand.pendingTasks`.
 * Departs from the source: |M^p| and p are fixed before the loop, as settled in the digest of the seeds. If a task
 * needs several processors, |T^p| is counted in processors, and p is a whole number of tasks' worth. The walltime is
 * rounded down to the resource's granularity. An option asks for maxP always, as the users of OurGrid did. If the
 * number of tasks without a place is known, it is |T^p|, and slots that they do not need stay free.
 */
export const staticHeuristic: RequestHeuristic = { name: 'static', expectsLongTasks: true, draft: draftStatic };

function draftStatic(facts: RequestFacts): RequestDecision {
  const { limits, demand, pending } = facts;
  const obstacle = findObstacle(facts);
  if (obstacle !== undefined) return { drafts: [], reasons: [obstacle] };
  const freeSlots = getFreeSlots(facts);
  const wanted = tasksWithoutSlot(facts) * demand.processors;
  const isShared = listOptions(facts).staticWidth === 'share';
  const width = chooseWidth(isShared ? wanted : Infinity, freeSlots, demand.processors, limits.widthMax);
  const walltime = longestWalltime(limits);
  const count = isBounded(facts) ? Math.min(freeSlots, Math.ceil(wanted / width)) : freeSlots;
  const reasons: Reason[] = [
    isShared
      ? {
          code: 'static-equal-shares',
          tasks: tasksWithoutSlot(facts),
          isPartOfDemand: tasksWithoutSlot(facts) < demand.pendingTasks,
          taskProcessors: demand.processors,
          freeSlots,
          slots: limits.requestsMax,
          pendingRequests: pending.length,
          requestProcessors: width,
          requestProcessorsMax: limits.widthMax,
        }
      : { code: 'static-largest-width', processors: width },
    { code: 'static-longest-walltime', walltimeMs: walltime },
  ];
  const drafts = Array.from({ length: count }, (): DraftedRequest => ({ width, walltime, reasons }));
  return { drafts, reasons };
}

function chooseWidth(
  wanted: ProcessorCount,
  freeSlots: number,
  perTask: ProcessorCount,
  widthMax: ProcessorCount,
): ProcessorCount {
  const share = Math.ceil(wanted / freeSlots);
  const wholeTasks = Math.ceil(share / perTask) * perTask;
  return wholeTasks <= widthMax ? wholeTasks : Math.floor(widthMax / perTask) * perTask;
}
