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
import { describeCancelled } from './wait.ts';

const statuses = Object.keys(JobStatus)
  .slice(1)
  .map((name) => name.toLowerCase());

/** States of running jobs of which no task can start yet. */
const waitingStatuses = ['held', 'waiting'];

function hasStatus(job: JobSummary, status: string, now: number): boolean {
  return waitingStatuses.includes(status)
    ? jobStatusText(job, now).split(/[ ,]/)[0] === status
    : getEnumName(JobStatus, job.status) === status;
}

/** How much of the list is wanted. */
export interface ListJobsOptions {
  readonly max: number;
  readonly status?: string;
}

export function define(command: Command, act: Act): void {
  command
    .option('--max <count>', 'list at most this many jobs', positive, 30)
    .option('--status <status>', 'only jobs in this state: running, held, waiting, finished, failed or cancelled')
    .action((options: ListJobsOptions) => act((context) => listJobs(context, options)));
}

/** Lists jobs, newest first. */
export async function listJobs(context: CommandContext, { max, status }: ListJobsOptions): Promise<ExitStatus> {
  const known = [...statuses, ...waitingStatuses];
  if (status !== undefined && !known.includes(status))
    throw new MutiraoError('MUT_BAD_REQUEST', `--status is "${status}"; expected one of ${known.join(', ')}`);
  const now = context.clock.now();
  const jobs = await fetchJobs(await context.broker(), { status, max, now });
  printResult(context.output, {
    json: () => jobs.map(jobJson),
    table: () =>
      jobs.length === 0
        ? ['No jobs. Submit one with "mutirao job submit --array 1-10 -- echo {}".']
        : [...jobTable(jobs, now), ...jobs.map(describeCancelled).filter((sentence) => sentence !== undefined)],
    quiet: () => jobs.map((job) => job.jobId),
  });
  return 0;
}

/** Reads pages of jobs, newest first, until `max` of them have the status, or all are read. */
export async function fetchJobs(
  broker: BrokerClient,
  { status, max, now }: { readonly status: string | undefined; readonly max: number; readonly now: number },
): Promise<JobSummary[]> {
  const found: JobSummary[] = [];
  let beforeJobId = 0;
  for (;;) {
    const { jobs } = await broker.listJobs({ pageSize: max, beforeJobId });
    found.push(...jobs.filter((job) => status === undefined || hasStatus(job, status, now)));
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
