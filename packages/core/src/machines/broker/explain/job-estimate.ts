import type { TimeQuantiles } from '../../../messages/index.ts';
import type { Reason } from '../../../reasons/index.ts';
import type { Duration, Instant } from '../../../shared/index.ts';
import { findQuantiles, type TimeCurve } from '../../../times/index.ts';
import { countReady } from '../jobs/ready-tasks.ts';
import type { BrokerJob, BrokerReplica, BrokerState, OpenTask } from '../state.ts';
import { expectedRemaining, timeQuantile } from '../times/task-times.ts';

/** What is known of the times of a job's tasks, and how long the open ones may still take. */
export interface JobEstimate {
  /** Undefined before anything was seen. */
  readonly times: TimeQuantiles | undefined;
  /** Its replicas that run now, as far as is known: those that fit on the processors of their machines. */
  readonly slotCount: number;
  /**
   * How long it takes on this number of places, if none comes or goes; undefined if no task runs, or before one has
   * ended.
   */
  readonly remaining: { readonly least: Duration; readonly most: Duration } | undefined;
}

/** How much of something that runs is still to come: on average, and with nine tenths of certainty. */
interface Rest {
  readonly expected: Duration;
  readonly most: Duration;
}

/**
 * What is known of a job's times. Cost: O(replicas + tasks of the job that are open).
 *
 * @source Graham's bound for lists: a schedule that gives each free place the next task takes at most work / places,
 *   and the longest task.
 * Departs from the source: work is expected, by the product-limit curve of the job's times; longest is the ninth tenth.
 */
export function estimateJob(state: BrokerState, job: BrokerJob, now: Instant): JobEstimate {
  const slotCount = countPlaces(state, job);
  const times = findQuantiles(job.times);
  const { mean } = job.times;
  if (job.status !== 'running' || slotCount === 0 || mean === undefined)
    return { times, slotCount, remaining: undefined };
  const waiting = countReady(job);
  let [work, longest, longestExpected] = [waiting * mean, waiting > 0 ? getLongest(job.times, mean) : 0, 0];
  for (const task of job.tasks.values()) {
    const rest = findRest(task, now);
    if (rest === undefined) continue;
    work += rest.expected;
    longest = Math.max(longest, rest.most);
    longestExpected = Math.max(longestExpected, rest.expected);
  }
  const share = work / slotCount;
  const isAllRunning = waiting === 0 && job.tasks.size <= slotCount;
  const least = Math.ceil(Math.max(share, longestExpected));
  return {
    times,
    slotCount,
    remaining: { least, most: Math.max(least, Math.ceil(isAllRunning ? longest : share + longest)) },
  };
}

function countPlaces({ machines }: BrokerState, job: BrokerJob): number {
  let count = 0;
  for (const { replicas, processors } of machines.values()) {
    let held = 0;
    for (const replica of replicas.values()) {
      held += replica.processors;
      if (held > processors) break;
      if (replica.job === job && replica.status !== 'aborting') count++;
    }
  }
  return count;
}

function getLongest(times: TimeCurve, mean: Duration): Duration {
  return Math.max(mean, times.quantile(0.9) ?? times.end);
}

/** Of a task that has replicas: what is left of the one that is expected to end first. */
function findRest({ replicas }: OpenTask, now: Instant): Rest | undefined {
  let first: Rest | undefined;
  for (const replica of replicas) {
    const rest = replica.status === 'aborting' ? undefined : restOfReplica(replica, now);
    if (rest !== undefined && (first === undefined || rest.expected < first.expected)) first = rest;
  }
  return first;
}

function restOfReplica(replica: BrokerReplica, now: Instant): Rest | undefined {
  const { job, machine } = replica;
  const elapsed = getElapsed(replica, now);
  const expected = expectedRemaining(job, elapsed, machine);
  if (expected === undefined) return undefined;
  const ninetieth = timeQuantile(job, machine, { share: 0.9, elapsed });
  return { expected, most: Math.max(expected, ninetieth === undefined ? 0 : ninetieth - elapsed) };
}

/** For how long a replica has run, as far as its machine reported. */
function getElapsed({ startedAt }: BrokerReplica, now: Instant): Duration {
  return startedAt === 0 ? 0 : Math.max(0, now - startedAt);
}

/** What is known of a job's times; nothing before anything was seen. */
export function describeEstimate({ times, slotCount, remaining }: JobEstimate): Reason[] {
  if (times === undefined) return [];
  if (remaining === undefined) return [describeQuantiles(times)];
  const { least, most } = remaining;
  return [describeQuantiles(times), { code: 'job-rest', slots: slotCount, leastMs: least, mostMs: most }];
}

/** What is known of the times of tasks. */
export function describeQuantiles({ count, censoredCount, median, ninetieth }: TimeQuantiles): Reason {
  return {
    code: 'task-times',
    completedTasks: count,
    cutOffTasks: censoredCount,
    ...(median === undefined ? {} : { medianMs: median }),
    ...(ninetieth === undefined ? {} : { ninetiethMs: ninetieth }),
  };
}

/** How long a replica still runs, by those that lasted as long; empty if that is not known. */
export function describeRest(replica: BrokerReplica, now: Instant): Reason[] {
  const rest = replica.startedAt === 0 || replica.job.times.count === 0 ? undefined : restOfReplica(replica, now);
  if (rest === undefined) return [];
  const { machineId } = replica.machine.facts;
  return [{ code: 'replica-rest', machineId, expectedMs: rest.expected, mostMs: rest.most }];
}
