import type { JobDependency } from '../../../messages/index.ts';
import { IndexSet, type Instant, type JobId, type TaskIndex } from '../../../shared/index.ts';
import type { AwaitedJob, BrokerJob, BrokerState, Gates } from '../state.ts';

/** Whether no task of a job may be started yet, whichever it is. */
export function isWhollyGated({ awaited, beginAt }: Gates): boolean {
  return beginAt !== undefined || awaited.some(({ condition }) => condition !== 'each');
}

/** Whether a task may not be started yet because of another job or of the time. */
export function isGated(gates: Gates, index: TaskIndex): boolean {
  return isWhollyGated(gates) || gates.awaited.some(({ waiting }) => waiting.has(index));
}

/** What a job waits for when it is accepted. */
export function createGates(
  { after = [], beginAt, expireAt }: { after?: readonly JobDependency[]; beginAt?: Instant; expireAt?: Instant },
  taskCount: number,
): Gates {
  const awaited = after.map(({ jobId, condition }): AwaitedJob => {
    const waiting = new IndexSet();
    if (condition === 'each') waiting.addRange(0, taskCount);
    return { jobId, condition, waiting };
  });
  return { awaited, beginAt, expireAt };
}

/** Enters an open job where it is found by what it waits for. */
export function noteGates({ dependents, timedJobs }: BrokerState, job: BrokerJob): void {
  for (const { jobId } of job.awaited) {
    const known = dependents.get(jobId);
    if (known === undefined) dependents.set(jobId, new Set([job]));
    else known.add(job);
  }
  if (job.beginAt !== undefined || job.expireAt !== undefined) timedJobs.add(job);
}

/** Takes a job out from where it was found, once it does not wait for this job any more. */
export function forgetAwaited({ dependents }: BrokerState, job: BrokerJob, jobId: JobId): void {
  if (job.awaited.some((awaited) => awaited.jobId === jobId)) return;
  const known = dependents.get(jobId);
  known?.delete(job);
  if (known?.size === 0) dependents.delete(jobId);
}

/** Takes a job out of `timedJobs` once all its times have come. */
export function forgetTimes({ timedJobs }: BrokerState, job: BrokerJob): void {
  if (job.beginAt === undefined && job.expireAt === undefined) timedJobs.delete(job);
}

/** Has a job wait for nothing, as one that has ended does. */
export function dropGates(state: BrokerState, job: BrokerJob): void {
  for (const { jobId } of job.awaited.splice(0)) forgetAwaited(state, job, jobId);
  job.beginAt = undefined;
  job.expireAt = undefined;
  forgetTimes(state, job);
}

/**
 * Has tasks that run again wait once more for all that their job waited for when it was submitted, even for what has
 * come; the step that retries them settles that. The rest of a job that is still running does not wait again.
 */
export function restoreGatesOf(
  state: BrokerState,
  job: BrokerJob,
  { indexes, at }: { readonly indexes: IndexSet; readonly at: Instant },
): void {
  const isOver = job.status === 'cancelled' || job.endedAt !== 0;
  for (const dependency of job.spec?.after ?? [])
    if (dependency.condition === 'each') awaitAgain(job, dependency).addAll(indexes);
    else if (isOver) awaitAgain(job, dependency);
  if (isOver) restoreTimes(job, at);
  noteGates(state, job);
}

/** The tasks that wait for a job which theirs waits for, once more if it did not any longer. */
function awaitAgain(job: BrokerJob, { jobId, condition }: JobDependency): IndexSet {
  const known = job.awaited.find((awaited) => awaited.jobId === jobId && awaited.condition === condition);
  if (known !== undefined) return known.waiting;
  const waiting = new IndexSet();
  job.awaited.push({ jobId, condition, waiting });
  return waiting;
}

function restoreTimes(job: BrokerJob, at: Instant): void {
  const { beginAt = 0, expireAt = 0 } = job.spec ?? {};
  if (beginAt > at) job.beginAt = beginAt;
  if (expireAt > at) job.expireAt = expireAt;
}
