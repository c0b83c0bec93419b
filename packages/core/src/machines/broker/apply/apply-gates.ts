import { invariant } from '../../../shared/index.ts';
import type { ChangeOf } from '../changes.ts';
import { forgetAwaited, forgetTimes } from '../jobs/gates.ts';
import { unpark, unparkAll } from '../jobs/ready-tasks.ts';
import type { BrokerState } from '../state.ts';
import { getJob } from './apply-job.ts';

/** Has tasks of a job no longer wait for another job; they are ready if they wait for nothing else. */
export function settleDependency(state: BrokerState, change: ChangeOf<'DependencySettled'>): void {
  const { jobId, awaitedId, condition, taskIndexes } = change;
  const job = getJob(state, jobId);
  const position = job.awaited.findIndex((one) => one.jobId === awaitedId && one.condition === condition);
  const awaited = job.awaited[position];
  invariant(awaited, `job ${jobId} does not wait for job ${awaitedId}`);
  for (const index of taskIndexes) awaited.waiting.delete(index);
  if (awaited.waiting.size > 0) {
    for (const index of taskIndexes) unpark(job, index);
    return;
  }
  job.awaited.splice(position, 1);
  forgetAwaited(state, job, awaitedId);
  unparkAll(job);
}

/** Lets a job start whose time has come. */
export function reachBegin(state: BrokerState, { jobId }: ChangeOf<'BeginReached'>): void {
  const job = getJob(state, jobId);
  job.beginAt = undefined;
  forgetTimes(state, job);
  unparkAll(job);
}

/** Notes that what had not started has been cancelled. */
export function expireJob(state: BrokerState, { jobId }: ChangeOf<'JobExpired'>): void {
  const job = getJob(state, jobId);
  job.expireAt = undefined;
  forgetTimes(state, job);
}
