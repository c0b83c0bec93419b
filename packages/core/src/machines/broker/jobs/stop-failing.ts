import { stopJob } from './cancel-job.ts';
import type { BrokerJob } from '../state.ts';
import type { Turn } from '../turn.ts';

/** Stops the jobs of which as many tasks have failed as their users allow. */
export function stopFailing(turn: Turn): void {
  for (const job of turn.state.openJobs.values())
    if (job.status === 'running' && hasFailedTooOften(job))
      stopJob(turn, job, `stopped at ${job.failed.size} failed tasks`);
}

/** Whether as many tasks of a job have failed as its user allows. */
export function hasFailedTooOften({ failed, spec }: BrokerJob): boolean {
  return failed.size >= (spec?.failedTasksMax ?? Infinity);
}
