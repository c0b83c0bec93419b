import type { Refusal } from '../../../reasons/index.ts';
import { type CurrentInput, fingerprintsIn } from '../../../resumption/index.ts';
import type { TaskIndex } from '../../../shared/index.ts';
import { isBeingCancelled } from '../apply/apply-job.ts';
import { findUserJob } from './find-job.ts';
import { insistOnDependencies } from './follow-dependencies.ts';
import type { GetInput } from '../inputs.ts';
import { reportLeasesAgain } from '../leases/grant-leases.ts';
import { closeOverEdges } from './retry-closure.ts';
import type { BrokerJob } from '../state.ts';
import { getFailedTasksMax } from './stop-failing.ts';
import { commit, reply, replyNotFound, type Turn } from '../turn.ts';
import { findJobExcess } from './user-quotas.ts';

/**
 * Runs tasks again that failed, were cancelled or are about to be, with their predecessors and successors, and lets
 * tasks go on that wait since the reservation is over; others are left alone.
 */
export function retryTasks(turn: Turn, input: GetInput<'TasksRetried'>): void {
  const job = findUserJob(turn.state, input.userId, input.jobId);
  if (job === undefined) {
    replyNotFound(turn, input.replyTo, { code: 'job-not-found', jobId: input.jobId });
    return;
  }
  const fault = findRetryFault(turn, job, input);
  if (fault !== undefined) {
    reply(turn, input.replyTo, { ok: false, ...fault });
    return;
  }
  const released = releaseWaiting(turn, job);
  const all = job.failed.size + job.cancelled.size + [...job.tasks.values()].filter(isBeingCancelled).length;
  const taskIndexes = listRetried(job, input.taskIndexes);
  const retriedCount = input.taskIndexes.length === 0 ? all : taskIndexes.length;
  if (retriedCount > 0 || job.endedAt === 0) reviseInputs(turn, job, input.current ?? []);
  if (retriedCount > 0) {
    commit(turn, { kind: 'TasksRetried', jobId: job.jobId, taskIndexes, at: turn.now });
    insistOnDependencies(turn, job);
  }
  reply(turn, input.replyTo, { ok: true, value: { retriedCount: retriedCount + released } });
}

/** The refusal for the first index that is not that of a task of the job; undefined if there is none. */
export function findTaskBeyond(
  { jobId, taskCount }: BrokerJob,
  taskIndexes: readonly TaskIndex[],
): Refusal | undefined {
  const beyond = taskIndexes.find((index) => !(Number.isInteger(index) && index >= 0 && index < taskCount));
  return beyond === undefined
    ? undefined
    : {
        code: 'MUT_BAD_REQUEST',
        fault: { code: 'retry-task-unknown', taskIndex: beyond, jobId, taskIndexMax: taskCount - 1 },
      };
}

/** Why tasks of a job cannot be retried; undefined where they can. */
function findRetryFault(
  { state }: Turn,
  job: BrokerJob,
  { userId, taskIndexes }: GetInput<'TasksRetried'>,
): Refusal | undefined {
  const beyond = findTaskBeyond(job, taskIndexes);
  if (beyond !== undefined) return beyond;
  const stillFailing = findStillFailing(job, taskIndexes);
  if (stillFailing !== undefined) return stillFailing;
  return job.endedAt === 0 ? undefined : findJobExcess(state, userId, job.taskCount);
}

/** A job that still has as many failed tasks as its user allows would be stopped again at once. */
function findStillFailing(job: BrokerJob, taskIndexes: readonly TaskIndex[]): Refusal | undefined {
  const failedTasksMax = getFailedTasksMax(job);
  if (taskIndexes.length === 0 || job.failed.size < failedTasksMax) return undefined;
  const retried = listRetried(job, taskIndexes);
  const failedTasks = job.failed.size - retried.filter((index) => job.failed.has(index)).length;
  if (retried.length === 0 || failedTasks < failedTasksMax) return undefined;
  const { jobId } = job;
  return { code: 'MUT_BAD_REQUEST', fault: { code: 'retry-leaves-failed-tasks', jobId, failedTasks, failedTasksMax } };
}

/**
 * Has the job's tasks that have not run get what is at home now. What providers were leased is staged again with it.
 */
function reviseInputs(turn: Turn, job: BrokerJob, current: readonly CurrentInput[]): void {
  const before = job.spec === undefined ? new Map<string, string>() : fingerprintsIn(job.spec);
  const changed = current.filter(({ path, fingerprint }) => before.has(path) && before.get(path) !== fingerprint);
  if (changed.length === 0) return;
  commit(turn, { kind: 'InputsRevised', jobId: job.jobId, current: changed, at: turn.now });
  reportLeasesAgain(turn.state, job);
}

/** Lets the tasks go on that wait since their reservation is over; answers how many they are. */
function releaseWaiting(turn: Turn, job: BrokerJob): number {
  const { jobId, reservationOver } = job;
  if (reservationOver?.waits !== true) return 0;
  const { code, reason } = reservationOver;
  commit(turn, { kind: 'ReservationLeft', jobId, code, reason, waits: false, at: turn.now });
  return job.queues.reduce((sum, { ready }) => sum + ready.size, 0);
}

/** The tasks that run again when these are retried, with those before and behind them; none where all are retried. */
function listRetried(job: BrokerJob, indexes: readonly TaskIndex[]): TaskIndex[] {
  return indexes.length === 0 ? [] : closeOverEdges(job, retryable(job, indexes));
}

function retryable(job: BrokerJob, indexes: readonly TaskIndex[]): TaskIndex[] {
  return [...new Set(indexes)].filter((index) => {
    const open = job.tasks.get(index);
    return job.failed.has(index) || job.cancelled.has(index) || (open !== undefined && isBeingCancelled(open));
  });
}
