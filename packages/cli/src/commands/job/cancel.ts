import type { Command } from 'commander';

import { JobStatus, type JobSummary } from '@mutirao/api/broker';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { tell } from '../../output/tell.ts';
import { resolveJobs } from '../../selectors.ts';
import { getEnumName } from '../../wire/names.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<jobs>', 'which jobs: 5, 1-10:2, last, or all (every running job)')
    .option('--reason <text>', 'the reason, which "mutirao job show" prints', '')
    .action((jobs: string, options: { reason: string }) => act((context) => cancelJobs(context, jobs, options.reason)));
}

/** Cancels jobs; repeating it is harmless. One that has ended stays as it is, which is said. */
export async function cancelJobs(context: CommandContext, selector: string, reason: string): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobs = await resolveJobs(broker, selector, 'running');
  for (const { jobId, status } of jobs) if (status === JobStatus.RUNNING) await broker.cancelJob({ jobId, reason });
  tell(context.output, {
    json: () =>
      jobs.map(
        ({ jobId, status }): JsonOf<typeof shapes.cancelled_job> => ({
          job_id: jobId,
          ended_before: status === JobStatus.RUNNING ? null : getEnumName(JobStatus, status),
        }),
      ),
    table: () => (jobs.length === 0 ? ['Nothing to cancel: none of your jobs is running.'] : jobs.map(cancelledLine)),
    quiet: () => jobs.map(({ jobId }) => jobId),
  });
  return 0;
}

function cancelledLine({ jobId, status }: JobSummary): string {
  return status === JobStatus.RUNNING
    ? `Job ${jobId} is cancelled.`
    : `Job ${jobId} had already ended (${getEnumName(JobStatus, status)}); nothing to cancel.`;
}
