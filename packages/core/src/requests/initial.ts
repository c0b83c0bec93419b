import type { Reason } from '../reasons/index.ts';
import { estimateTaskTime, type TaskTimeEstimate } from './estimate-task-time.ts';
import type { FreeTime } from '../profile/index.ts';
import type { DraftedRequest, RequestDecision, RequestFacts, RequestHeuristic } from './heuristic.ts';
import {
  findObstacle,
  getFreeSlots,
  isBounded,
  lanesIn,
  getLanesMax,
  longestWalltime,
  tasksWithoutSlot,
} from './obstacle.ts';
import { readQueue } from './read-queue.ts';

/**
 * Asks for as much as can start at once, and beyond that for requests of one task's time, the narrower the longer the
 * queue.
 *
 * @source costa2005, section 3.3.2 and Eq. 3.2:  p = maxP / |R^w|, t_r = E(T) of Alg. 3.2
 * Symbols: maxP = `limits.widthMax`, |R^w| = `waitingCount`.
 * Departs from the source: p is maxP for an empty queue, is rounded down to whole tasks, at least one, and is never
 * more than the pending tasks need; |R^w| is what it was before this decision. A hole that starts at once gives the
 * widest request that holds a task, for as long as that width stays free. Without such a hole the walltime is E, which
 * is DEFAULT_TIME before anything was observed. If the number of tasks without a place is known, slots that they do not
 * need stay free.
 */
export const initialHeuristic: RequestHeuristic = { name: 'initial', draft: draftInitially };

function draftInitially(facts: RequestFacts): RequestDecision {
  const obstacle = findObstacle(facts);
  if (obstacle !== undefined) return { drafts: [], reasons: [obstacle] };
  const estimate = estimateTaskTime(facts);
  const { free, waitingCount } = readQueue(facts);
  const drafts: DraftedRequest[] = [];
  let tasks = tasksWithoutSlot(facts);
  while (drafts.length < getFreeSlots(facts) && tasks > 0) {
    const draft = fillHoleNow(facts, free, { tasks, estimate }) ?? waitByLoad(facts, waitingCount, { tasks, estimate });
    drafts.push(draft);
    if (isBounded(facts)) tasks -= lanesIn(draft.width, facts.demand.processors);
  }
  const reasons: Reason[] = [{ code: 'initial-requests', requests: drafts.length }, estimate.reason];
  return { drafts, reasons, taskTimeEstimate: estimate.time };
}

/** The most tasks that a request should hold, and how long one lasts. */
interface Wanted {
  readonly tasks: number;
  readonly estimate: TaskTimeEstimate;
}

/** The widest request that starts now and holds a task, as long as that costs no wait; it is taken out of `free`. */
function fillHoleNow(
  facts: RequestFacts,
  free: FreeTime,
  { tasks, estimate: { time, reason } }: Wanted,
): DraftedRequest | undefined {
  const {
    limits,
    demand: { processors },
  } = facts;
  const lanesFree = lanesIn(free.widestFor(free.first, time), processors);
  const lanes = Math.min(lanesFree, getLanesMax(facts), tasks);
  if (lanes === 0) return undefined;
  const width = lanes * processors;
  const extent = free.getExtent(free.first, width, longestWalltime(limits));
  const walltime = Math.floor(extent / limits.walltimeGranularity) * limits.walltimeGranularity;
  free.cut(free.first, width, walltime);
  return {
    width,
    walltime,
    reasons: [{ code: 'initial-free-now', processors: width, walltimeMs: walltime }, reason],
  };
}

function waitByLoad(
  facts: RequestFacts,
  waitingCount: number,
  { tasks, estimate: { time, reason } }: Wanted,
): DraftedRequest {
  const {
    limits,
    demand: { processors },
  } = facts;
  const byLoad = Math.max(1, lanesIn(limits.widthMax / Math.max(1, waitingCount), processors));
  const width = Math.min(byLoad, tasks) * processors;
  return {
    width,
    walltime: time,
    reasons: [
      {
        code: 'initial-nothing-free',
        processors: width,
        waitingRequests: waitingCount,
        requestProcessorsMax: limits.widthMax,
      },
      reason,
    ],
  };
}
