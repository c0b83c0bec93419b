import { findUserJob } from './find-job.ts';
import { reportLeasesAgain } from '../leases/grant-leases.ts';
import type { GetInput } from '../inputs.ts';
import { cancelFollowers } from '../gangs/reconcile-gangs.ts';
import { cancelReplica, commit, reply, replyNotFound, type Turn } from '../turn.ts';

/** Cancels what is left of a job. Repeating it is harmless, and so is cancelling a job that has ended. */
export function cancelJob(turn: Turn, input: GetInput<'JobCancelled'>): void {
  const { state, now } = turn;
  const job = findUserJob(state, input.userId, input.jobId);
  if (job === undefined) {
    replyNotFound(turn, input.replyTo, `job ${input.jobId}`);
    return;
  }
  if (job.status === 'running') {
    for (const task of job.tasks.values()) {
      for (const replica of task.replicas) {
        cancelReplica(turn, replica);
        cancelFollowers(turn, replica);
      }
    }
    commit(turn, { kind: 'JobCancelled', jobId: job.jobId, reason: input.reason, at: now });
    reportLeasesAgain(state, job);
  }
  reply(turn, input.replyTo, { ok: true, value: {} });
}
