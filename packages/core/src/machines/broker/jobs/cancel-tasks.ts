import type { TaskIndex } from '../../../shared/index.ts';
import { isBeingCancelled } from '../apply/apply-job.ts';
import type { GetInput } from '../inputs.ts';
import { reportLeasesAgain } from '../leases/grant-leases.ts';
import type { BrokerJob } from '../state.ts';
import { commit, reply, replyNotFound, type Turn } from '../turn.ts';
import { cancelReplicas } from './cancel-job.ts';
import { findUserJob } from './find-job.ts';
import { findTaskBeyond } from './retry-tasks.ts';

/** Cancels single tasks of a job, and with them what waits for them; those that have ended stay as they are. */
export function cancelTasks(turn: Turn, input: GetInput<'TasksCancelled'>): void {
  const { state, now } = turn;
  const job = findUserJob(state, input.userId, input.jobId);
  if (job === undefined) {
    replyNotFound(turn, input.replyTo, { code: 'job-not-found', jobId: input.jobId });
    return;
  }
  const beyond = findTaskBeyond(job, input.taskIndexes);
  if (beyond !== undefined) {
    reply(turn, input.replyTo, { ok: false, ...beyond });
    return;
  }
  const taskIndexes = listCancellable(job, input.taskIndexes);
  if (taskIndexes.length > 0) {
    for (const index of taskIndexes) {
      const open = job.tasks.get(index);
      if (open !== undefined) cancelReplicas(turn, open);
    }
    commit(turn, { kind: 'TasksCancelled', jobId: job.jobId, taskIndexes, reason: input.reason, at: now });
    reportLeasesAgain(state, job);
  }
  reply(turn, input.replyTo, { ok: true, value: { cancelledCount: taskIndexes.length } });
}

/** Those that have not ended and are not being cancelled, each once, ascending. */
function listCancellable(job: BrokerJob, taskIndexes: readonly TaskIndex[]): TaskIndex[] {
  if (job.status !== 'running') return [];
  return [...new Set(taskIndexes)]
    .filter((index) => {
      const open = job.tasks.get(index);
      if (open !== undefined) return !isBeingCancelled(open);
      return !job.finished.has(index) && !job.failed.has(index) && !job.cancelled.has(index);
    })
    .sort((one, other) => one - other);
}
