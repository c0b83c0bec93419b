import { hasFailedTooOften } from './stop-failing.ts';
import type { BrokerJob } from '../state.ts';
import { commit, type Turn } from '../turn.ts';

/** Ends the jobs all of whose tasks have ended, unless more may come. */
export function endJobs(turn: Turn): void {
  for (const job of turn.state.openJobs.values()) {
    if (job.takesTasks || countEnded(job) < job.taskCount) continue;
    commit(turn, { kind: 'JobEnded', jobId: job.jobId, status: finalStatus(job), at: turn.now });
  }
}

/** How many tasks of an open job have ended. */
export function countEnded(job: BrokerJob): number {
  return job.finished.size + job.failed.size + job.cancelled.size;
}

/** Whether a task of a job has begun, unless it was cancelled since. Cost: O(open tasks) until one has. */
export function hasStarted({ finished, failed, tasks }: BrokerJob): boolean {
  if (finished.size + failed.size > 0) return true;
  for (const task of tasks.values()) if (task.hasStarted === true) return true;
  return false;
}

function finalStatus(job: BrokerJob): 'finished' | 'failed' | 'cancelled' {
  // Cancelled tasks of a job that was not cancelled itself waited for a failed one, or were cancelled task by task.
  if (job.failed.size > 0 && (job.status !== 'cancelled' || hasFailedTooOften(job))) return 'failed';
  if (job.cancelled.size > 0) return 'cancelled';
  return job.failed.size > 0 ? 'failed' : 'finished';
}
