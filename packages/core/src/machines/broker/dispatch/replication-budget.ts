import { budgetLeft, lossBy, type ReplicationCost, type TaskRuns } from '../../../bag/index.ts';
import type { Duration, Instant, ProcessorCount, ProcessorMillis } from '../../../shared/index.ts';
import type { BrokerJob, BrokerMachine, OpenTask } from '../state.ts';
import { expectedEnd, expectedTime } from '../times/task-times.ts';

/** Replicas are given up this long before the cap is reached, so that their machines learn of it in time. */
export const limitPreAcquired: Duration = 2000;

/** A job's cost of replication at an instant, and how fast it grows. */
export interface RunningCost extends ReplicationCost {
  /** Processors that add to what is at risk as time passes. */
  readonly growth: ProcessorCount;
}

/**
 * What the replicas of a job cost and may have cost at `now`. Cost: its accounts and its tasks with several replicas.
 */
export function replicationCost(job: BrokerJob, now: Instant): RunningCost {
  let [atRisk, growth] = [0, 0];
  for (const task of job.withSibling) {
    const runs = listRuns(job, task);
    atRisk += lossBy(runs, now);
    growth += losingCount(job, task, runs) * runs.processors;
  }
  return { ...bookedCost(job), atRisk, growth };
}

/**
 * Processor-time that the losers of a job may cost yet, when each task with several replicas has lost what it does
 * until it is expected to
 * end. Between two events it never grows.
 */
export function getLeft(job: BrokerJob, now: Instant): ProcessorMillis {
  if (job.replicationCap.kind !== 'share') return Infinity;
  let atRisk = 0;
  for (const task of job.withSibling) atRisk += lossBy(listRuns(job, task), getHorizon(expectedEnd(task, now), now));
  return budgetLeft(job.replicationCap, { ...bookedCost(job), atRisk });
}

/** A running task, and a machine that might get one more replica of it. */
export interface SiblingCandidate {
  readonly task: OpenTask;
  readonly machine: BrokerMachine;
}

/**
 * What one more replica of a running task on a machine adds to the reserve: by how much the task's worst loss until its
 * expected end grows. Infinity before anything is known of the job's times.
 */
export function costOfSibling(job: BrokerJob, candidate: SiblingCandidate, now: Instant): ProcessorMillis {
  return addedLoss(job, candidate, { since: now, now });
}

/**
 * What must be left of the share before a running task gets one more replica: at least its cost, and its excess over
 * `getLeft` must not shrink between two events, or the broker would have to check again without one.
 *
 * With results that wait for their verdict, the cost alone falls as the task's end comes nearer. So the replica is
 * assumed to run for its full time on its machine, or as the youngest of its siblings until then, whichever is shorter.
 * Without such results this is its cost.
 */
export function claimOfSibling(job: BrokerJob, candidate: SiblingCandidate, now: Instant): ProcessorMillis {
  const { living } = listRuns(job, candidate.task);
  const longest = Math.max(2 * limitPreAcquired, expectedTime(job, candidate.machine) ?? Infinity);
  return addedLoss(job, candidate, { since: Math.max(...living, endWith(job, candidate, now) - longest), now });
}

/**
 * How much more the task loses with one more replica that runs from `since` on; Infinity where its end is not known.
 */
function addedLoss(
  job: BrokerJob,
  candidate: SiblingCandidate,
  { since, now }: { readonly since: Instant; readonly now: Instant },
): ProcessorMillis {
  const runs = listRuns(job, candidate.task);
  const until = endWith(job, candidate, now);
  const before = lossBy(runs, getHorizon(expectedEnd(candidate.task, now), now));
  return until === Infinity || before === Infinity
    ? Infinity
    : lossBy({ ...runs, living: [...runs.living, since] }, until) - before;
}

/** Until when what the task loses is set aside, once the candidate has a replica of it. */
function endWith(job: BrokerJob, { task, machine }: SiblingCandidate, now: Instant): Instant {
  return getHorizon(Math.min(expectedEnd(task, now), now + (expectedTime(job, machine) ?? Infinity)), now);
}

/** Until when what replicas of a task lose is set aside: for long enough not to be given up at once. */
function getHorizon(end: Instant, now: Instant): Instant {
  return Math.max(end, now + 2 * limitPreAcquired);
}

function bookedCost({ shares }: BrokerJob): Pick<ReplicationCost, 'used' | 'losers'> {
  let [used, losers] = [0, 0];
  for (const share of shares.values()) {
    used += share.used;
    losers += share.losers;
  }
  return { used, losers };
}

function listRuns(job: BrokerJob, { replicas, successes = [] }: OpenTask): TaskRuns {
  return {
    processors: replicas[0]?.processors ?? job.processors,
    living: replicas.filter(({ status }) => status !== 'aborting').map(({ dispatchedAt }) => dispatchedAt),
    givenUp: replicas.filter(({ status }) => status === 'aborting').map(({ dispatchedAt }) => dispatchedAt),
    waiting: successes.map(({ charge }) => charge),
  };
}

/**
 * How many of its replicas lose more with time: all but one of those that live, unless the task was settled without
 * them.
 */
function losingCount(job: BrokerJob, task: OpenTask, { living, givenUp, waiting }: TaskRuns): number {
  const oneWins = job.tasks.get(task.index) === task && waiting.length === 0;
  return givenUp.length + (oneWins ? Math.max(0, living.length - 1) : living.length);
}
