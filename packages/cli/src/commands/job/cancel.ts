import type { Command } from 'commander';

import { JobStatus, type JobSummary } from '@mutirao/api/broker';

import { plural } from '@mutirao/core/shared';
import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveJobId, resolveJobs, resolveTaskIndexes } from '../../selectors.ts';
import { getEnumName } from '../../wire/names.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<jobs>', 'which jobs: 5, 1-10:2, last, or all (every running job)')
    .argument('[tasks]', 'which tasks of one job: 3,5-9 or 0-10:2 (default: the whole job)')
    .option('--reason <text>', 'the reason; "mutirao job show" prints it, or "mutirao events" for tasks', '')
    .action((jobs: string, tasks: string | undefined, { reason }: { reason: string }) =>
      act((context) =>
        tasks === undefined || tasks === 'all'
          ? cancelJobs(context, jobs, reason)
          : cancelTasks(context, { job: jobs, tasks, reason }),
      ),
    );
}

/** Cancels jobs; repeating it is harmless. One that has ended stays as it is, which is said. */
export async function cancelJobs(context: CommandContext, selector: string, reason: string): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobs = await resolveJobs(broker, selector, 'running');
  for (const { jobId, status } of jobs) if (status === JobStatus.RUNNING) await broker.cancelJob({ jobId, reason });
  printResult(context.output, {
    json: () =>
      jobs.map(
        ({ jobId, status }): JsonOf<typeof shapes.cancelled_job> => ({
          job_id: jobId,
          ended_before: status === JobStatus.RUNNING ? null : getEnumName(JobStatus, status),
          cancelled_tasks: null,
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

/** Cancels single tasks of a job; repeating it is harmless, and those that have ended stay as they are. */
async function cancelTasks(
  context: CommandContext,
  { job, tasks, reason }: { readonly job: string; readonly tasks: string; readonly reason: string },
): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, job);
  const taskIndexes = await resolveTaskIndexes(broker, jobId, tasks, 'listed');
  const { cancelledCount } = await broker.cancelTasks({ jobId, taskIndexes, reason });
  printResult(context.output, {
    json: (): JsonOf<typeof shapes.cancelled_job>[] => [
      { job_id: jobId, ended_before: null, cancelled_tasks: cancelledCount },
    ],
    table: () => describeCancelled(jobId, { cancelledCount, askedCount: taskIndexes.length }),
    quiet: () => [jobId],
  });
  return 0;
}

function describeCancelled(
  jobId: number,
  { cancelledCount, askedCount }: { readonly cancelledCount: number; readonly askedCount: number },
): string[] {
  const rest = askedCount - cancelledCount;
  return [
    `${plural(cancelledCount, 'task')} of job ${jobId} ${cancelledCount === 1 ? 'is' : 'are'} cancelled.`,
    ...(rest === 0
      ? []
      : [`${plural(rest, 'task')} had already ended, or ${rest === 1 ? 'is' : 'are'} being cancelled.`]),
  ];
}
