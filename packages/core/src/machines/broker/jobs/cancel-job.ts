import type { Cause } from '../../../reasons/index.ts';
import { findUserJob } from './find-job.ts';
import { reportLeasesAgain } from '../leases/grant-leases.ts';
import type { GetInput } from '../inputs.ts';
import type { BrokerJob, OpenTask } from '../state.ts';
import { cancelFollowers } from '../gangs/reconcile-gangs.ts';
import { cancelReplica, commit, reply, replyNotFound, type Turn } from '../turn.ts';

/** Cancels what is left of a job. Repeating it is harmless, and so is cancelling a job that has ended. */
export function cancelJob(turn: Turn, input: GetInput<'JobCancelled'>): void {
  const job = findUserJob(turn.state, input.userId, input.jobId);
  if (job === undefined) {
    replyNotFound(turn, input.replyTo, { code: 'job-not-found', jobId: input.jobId });
    return;
  }
  if (job.status === 'running') stopJob(turn, job, input.reason);
  reply(turn, input.replyTo, { ok: true, value: {} });
}

/** Ends what runs of a job that goes on, and cancels the rest. */
export function stopJob(turn: Turn, job: BrokerJob, reason: Cause): void {
  for (const task of job.tasks.values()) cancelReplicas(turn, task);
  commit(turn, { kind: 'JobCancelled', jobId: job.jobId, reason, at: turn.now });
  reportLeasesAgain(turn.state, job);
}

/** Has all replicas of a task ended by their machines, and the members that follow them. */
export function cancelReplicas(turn: Turn, { replicas }: OpenTask): void {
  for (const replica of replicas) {
    cancelReplica(turn, replica);
    cancelFollowers(turn, replica);
  }
}
