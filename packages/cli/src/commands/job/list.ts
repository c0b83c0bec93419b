import { InvalidArgumentError, type Command } from 'commander';

import { JobStatus, type JobSummary } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';

import type { BrokerClient } from '@mutirao/runtime/clients';
import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { jobJson } from '../../json/documents.ts';
import { jobStatusText } from '../../output/status-words.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration, showInstant } from '../../output/units.ts';
import { getEnumName } from '../../wire/names.ts';

const statuses = Object.keys(JobStatus)
  .slice(1)
  .map((name) => name.toLowerCase());

/** How much of the list is wanted. */
export interface ListJobsOptions {
  readonly max: number;
  readonly status?: string;
}

export function define(command: Command, act: Act): void {
  command
    .option('--max <count>', 'list at most this many jobs', positive, 30)
    .option('--status <status>', 'only jobs in this state: running, finished, failed or cancelled')
    .action((options: ListJobsOptions) => act((context) => listJobs(context, options)));
}

/** Lists jobs, newest first. */
export async function listJobs(context: CommandContext, { max, status }: ListJobsOptions): Promise<ExitStatus> {
  if (status !== undefined && !statuses.includes(status))
    throw new MutiraoError('MUT_BAD_REQUEST', `--status is "${status}"; expected one of ${statuses.join(', ')}`);
  const jobs = await fetchJobs(await context.broker(), status, max);
  printResult(context.output, {
    json: () => jobs.map(jobJson),
    table: () =>
      jobs.length === 0
        ? ['No jobs. Submit one with "mutirao job submit --array 1-10 -- echo {}".']
        : jobTable(jobs, context.clock.now()),
    quiet: () => jobs.map((job) => job.jobId),
  });
  return 0;
}

/** Reads pages of jobs, newest first, until `max` of them have the status, or all are read. */
export async function fetchJobs(broker: BrokerClient, status: string | undefined, max: number): Promise<JobSummary[]> {
  const found: JobSummary[] = [];
  let beforeJobId = 0;
  for (;;) {
    const { jobs } = await broker.listJobs({ pageSize: max, beforeJobId });
    found.push(...jobs.filter((job) => status === undefined || getEnumName(JobStatus, job.status) === status));
    const last = jobs.at(-1);
    if (status === undefined || found.length >= max || last === undefined || last.jobId === 1)
      return found.slice(0, max);
    beforeJobId = last.jobId;
  }
}

/** Jobs as a table. */
export function jobTable(jobs: readonly JobSummary[], now: number): string[] {
  return renderTable(
    [
      { title: 'JOB', right: true },
      { title: 'STATUS' },
      { title: 'TASKS', right: true },
      { title: 'RUNNING', right: true },
      { title: 'FINISHED', right: true },
      { title: 'FAILED', right: true },
      { title: 'SUBMITTED' },
      { title: 'ELAPSED', right: true },
      { title: 'LABEL' },
    ],
    jobs.map((job) => [
      String(job.jobId),
      jobStatusText(job, now),
      String(job.taskCount),
      String(job.runningCount),
      String(job.finishedCount),
      String(job.failedCount),
      showInstant(job.submittedUnixMs),
      showDuration((job.endedUnixMs === 0 ? now : job.endedUnixMs) - job.submittedUnixMs),
      job.label,
    ]),
  );
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Expected an integer of 1 or more.');
  return value;
}
