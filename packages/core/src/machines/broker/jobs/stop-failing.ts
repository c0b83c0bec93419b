import { stopJob } from './cancel-job.ts';
import type { BrokerJob } from '../state.ts';
import type { Turn } from '../turn.ts';

/** Stops the jobs of which as many tasks have failed as their users allow. */
export function stopFailing(turn: Turn): void {
  for (const job of turn.state.openJobs.values())
    if (job.status === 'running' && hasFailedTooOften(job))
      stopJob(turn, job, { code: 'failed-tasks-reached', failedTasks: job.failed.size });
}

/** Whether as many tasks of a job have failed as its user allows. */
export function hasFailedTooOften(job: BrokerJob): boolean {
  return job.failed.size >= getFailedTasksMax(job);
}

/** How many failed tasks stop a job; infinite where its user set no limit. */
export function getFailedTasksMax({ spec }: BrokerJob): number {
  return spec?.failedTasksMax ?? Infinity;
}
