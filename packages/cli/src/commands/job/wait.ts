import type { Command } from 'commander';

import { JobStatus, type JobSummary } from '@mutirao/api/broker';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { jobJson } from '../../json/documents.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration } from '../../output/units.ts';
import { resolveJobIds } from '../../selectors.ts';
import { explainMissingFile } from '../../watch/explain-missing-file.ts';
import { followJob } from '../../watch/follow-job.ts';
import { getEnumName } from '../../wire/names.ts';
import { getCounts } from './show.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('[jobs]', 'which jobs: 5, 1-10:2, last or all (default: last)', 'last')
    .option('--progress', 'also print progress when standard error is not a terminal')
    .action((jobs: string, options: { progress?: true }) =>
      act((context) => waitForJobs(context, jobs, options.progress === true)),
    );
}

/** Waits for jobs one after the other; the worst end decides the exit status. */
export async function waitForJobs(context: CommandContext, selector: string, progress: boolean): Promise<ExitStatus> {
  const broker = await context.broker();
  const ended: JobSummary[] = [];
  for (const jobId of await resolveJobIds(broker, selector))
    ended.push(await followJob(context, broker, { jobId, progress }));
  printResult(context.output, {
    json: () => ended.map(jobJson),
    table: () => ended.map(endLine),
    quiet: () => ended.map((job) => job.jobId),
  });
  for (const job of ended) await noteMissingFile(context, job);
  return Math.max(0, ...ended.map(exitStatusOfJob)) as ExitStatus;
}

/** Says on standard error what most first jobs fail for: a file that is not in the task's folder. */
export async function noteMissingFile(context: CommandContext, job: JobSummary): Promise<void> {
  const sentence = job.failedCount === 0 ? undefined : await explainMissingFile(await context.broker(), job);
  if (sentence !== undefined) context.output.note(sentence);
}

/** How a job ended, in one line that also says where to see more. */
export function endLine(job: JobSummary): string {
  if (job.failedCount > 0) return `${endSentence(job)} See "mutirao task list ${job.jobId} --status failed".`;
  return describeCancelled(job) === undefined
    ? endSentence(job)
    : `${endSentence(job)} It was cancelled: ${job.cancelReason?.text ?? ''}.`;
}

/** Which tasks cannot run, and why, unless their user cancelled them. */
export function describeCancelled({
  jobId,
  taskCount,
  cancelledCount,
  status,
  cancelReason,
}: JobSummary): string | undefined {
  if (cancelReason === undefined || cancelReason.code === 'cancelled-on-request') return undefined;
  const isWhole = status === JobStatus.CANCELLED || cancelledCount === taskCount;
  if (!isWhole && cancelledCount === 0) return undefined;
  const subject = isWhole ? `Job ${jobId} is` : `${cancelledCount} of ${taskCount} tasks of job ${jobId} are`;
  return `${subject} cancelled: ${cancelReason.text}.`;
}

/** How a job ended. */
export function endSentence(job: JobSummary): string {
  return (
    `Job ${job.jobId} ${getEnumName(JobStatus, job.status)} after ` +
    `${showDuration(job.endedUnixMs - job.submittedUnixMs)}, tasks ${getCounts(job)}.`
  );
}

/** 0 for a job all of whose tasks finished, 1 where tasks failed, 4 where it was cancelled. */
export function exitStatusOfJob(job: JobSummary): ExitStatus {
  if (job.status === JobStatus.CANCELLED) return 4;
  return job.status === JobStatus.FAILED ? 1 : 0;
}
