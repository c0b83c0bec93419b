import type { TaskTimes } from '../messages/index.ts';
import type { Reason } from '../reasons/index.ts';
import type { Duration } from '../shared/index.ts';
import type { RequestFacts, ServedRequest } from './heuristic.ts';
import { longestWalltime } from './obstacle.ts';
import { listOptions } from './options.ts';

/** How long a task is taken to last. */
export interface TaskTimeEstimate {
  /** E(T): a whole number of grains, 1 grain to the longest walltime. */
  readonly time: Duration;
  /** What it is and what decided it. */
  readonly reason: Reason;
}

/**
 * Estimates how long a task lasts: careful growth after success, abrupt doubling after a request that was too short.
 *
 * @source costa2005, Alg. 3.2:  first E = DEFAULT_TIME; later E = max(est1, est2), est1 = 1.1 max v_k^e,
 * est2 = 2 max over own requests of (t_i^e - sum of v_k^e of its tasks)
 * Symbols: v_k^e = `taskTimes.longest`, t_i^e = `endedAt - startedAt`, the sum = `taskTime`.
 * Departs from the source: est2 is clamped to 0..maxT_r; a decision before anything was observed is like the first; E
 * is at most maxT_r, since no request could hold a longer task, and is rounded up to the resource's granularity. Own
 * requests count once they have ended: t_i^e of those that still run is not known. Before a task has ended here, est1
 * is 1.1 x the time within which 99 of 100 end elsewhere, if enough runs are known there.
 */
export function estimateTaskTime(facts: RequestFacts): TaskTimeEstimate {
  const { limits, served, taskTimes } = facts;
  const tasks = taskTimes === undefined ? longestElsewhere(facts) : longestHere(taskTimes);
  if (tasks === undefined && served.length === 0) {
    const { time: taskMs, isCut } = fitTime(facts, listOptions(facts).defaultTime);
    return { time: taskMs, reason: { code: 'task-time-default', taskMs, isCut } };
  }
  const fromTasks = tasks === undefined ? 0 : Math.ceil((tasks.time * 11) / 10);
  const fromRequests = Math.min(longestWalltime(limits), 2 * longestIdle(served));
  if (tasks !== undefined && fromTasks >= fromRequests) {
    const { time: taskMs, isCut } = fitTime(facts, fromTasks);
    const { code, time: longestMs, count: completedTasks } = tasks;
    return { time: taskMs, reason: { code, taskMs, longestMs, completedTasks, isCut } };
  }
  const { time: taskMs, isCut } = fitTime(facts, fromRequests);
  return {
    time: taskMs,
    reason: { code: 'task-time-from-idle-requests', taskMs, idleMs: longestIdle(served), isCut },
  };
}

/** A time that tasks are not expected to exceed, and what it is. */
interface LongestTask {
  readonly time: Duration;
  readonly count: number;
  readonly code: 'task-time-from-longest-here' | 'task-time-from-elsewhere';
}

function longestHere({ longest, count }: TaskTimes): LongestTask {
  return { time: longest, count, code: 'task-time-from-longest-here' };
}

function longestElsewhere({ taskTimesElsewhere: times }: RequestFacts): LongestTask | undefined {
  if (times?.ninetyNinth === undefined) return undefined;
  return { time: times.ninetyNinth, count: times.count, code: 'task-time-from-elsewhere' };
}

function longestIdle(served: readonly ServedRequest[]): Duration {
  let longest = 0;
  for (const { startedAt, endedAt, taskTime } of served) longest = Math.max(longest, endedAt - startedAt - taskTime);
  return longest;
}

/** A time as whole grains, and whether it was cut to the longest walltime. */
function fitTime({ limits }: RequestFacts, raw: Duration): { readonly time: Duration; readonly isCut: boolean } {
  const { walltimeGranularity: grain } = limits;
  const whole = Math.max(1, Math.ceil(raw / grain)) * grain;
  const time = Math.min(whole, longestWalltime(limits));
  return { time, isCut: time < whole };
}
