import { Option, type Command } from 'commander';

import type { JobSummary } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import { parseDuration } from '@mutirao/formats';
import type { BrokerClient } from '@mutirao/runtime/clients';

import { Accounts, type Account, type AccountBy, type AccountWindow } from '../accounting/account-tasks.ts';
import { readGroups, readTasks } from '../accounting/read-tasks.ts';
import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import type { JsonOf, shapes } from '../json/shapes.ts';
import { parseMoment } from '../local-time.ts';
import { renderTable } from '../output/table.ts';
import { printResult } from '../output/print-result.ts';
import { showBytes, showInstant, showProcessorSeconds } from '../output/units.ts';

/** Which jobs are counted, and how. */
export interface AccountingOptions {
  readonly since: string;
  readonly until?: string;
  readonly by: AccountBy;
}

export function define(command: Command, act: Act): void {
  command
    .option('--since <time>', 'count what ended from then on: 7d (ago), today, or "2026-03-01 14:00"', 'today')
    .option('--until <time>', 'count what ended before then (default: now)')
    .addOption(
      new Option('--by <what>', 'one line per user, job, machine or day')
        .choices(['user', 'job', 'machine', 'day'])
        .default('user'),
    )
    .action((options: AccountingOptions) => act((context) => printAccounting(context, options)));
}

/** Prints what tasks of all jobs used that ended in a stretch of time. */
export async function printAccounting(context: CommandContext, options: AccountingOptions): Promise<ExitStatus> {
  const window = readWindow(options, context.clock.now());
  const broker = await context.broker();
  const accounts = new Accounts(options.by, window);
  for await (const job of listJobsWithin(broker, window)) {
    const groups = await readGroups(broker, job.jobId);
    for await (const tasks of readTasks(broker, job.jobId))
      for (const task of tasks) accounts.add(job, task, groups.processorsOf(task.taskIndex));
  }
  const rows = accounts.list();
  const { total } = accounts;
  printResult(context.output, {
    json: () => ({
      since_unix_ms: window.since,
      until_unix_ms: window.until,
      by: options.by,
      rows: rows.map(accountJson),
      total: accountJson(total),
    }),
    table: () =>
      rows.length === 0
        ? [`No task ended from ${showInstant(window.since)} to ${showInstant(window.until)}.`]
        : accountTable(options.by, rows, total),
    quiet: () => rows.map(({ name }) => name),
  });
  return 0;
}

function readWindow({ since, until }: AccountingOptions, now: number): AccountWindow {
  const window = { since: readPast(since, now), until: until === undefined ? now : readPast(until, now) };
  if (window.since <= window.until) return window;
  throw new MutiraoError(
    'MUT_BAD_REQUEST',
    `--since is ${showInstant(window.since)} and --until ${showInstant(window.until)}; expected --since not to be ` +
      'after --until',
  );
}

/** `7d` is the moment seven days ago. */
function readPast(text: string, now: number): number {
  return /^[\d.]+[a-z]/i.test(text) ? now - parseDuration(text) : parseMoment(text, now);
}

const pageSize = 100;

/** Jobs that can have tasks which ended in the window, newest first. */
async function* listJobsWithin(broker: BrokerClient, { since, until }: AccountWindow): AsyncGenerator<JobSummary> {
  let beforeJobId: number | undefined = 0;
  while (beforeJobId !== undefined) {
    const page: { jobs: JobSummary[]; nextBeforeJobId?: number | undefined } = await broker.listJobs({
      pageSize,
      beforeJobId,
    });
    for (const job of page.jobs)
      if (job.submittedUnixMs < until && (job.endedUnixMs === 0 || job.endedUnixMs >= since)) yield job;
    beforeJobId = page.nextBeforeJobId;
  }
}

function accountJson(account: Account): JsonOf<typeof shapes.account> {
  return {
    name: account.name,
    task_count: account.tasks,
    replica_count: account.replicas,
    failure_count: account.failures,
    processor_ms: account.processorMs,
    processor_time_ms: account.processorTimeMs,
    memory_bytes_max: account.memoryBytesMax,
  };
}

function accountTable(by: AccountBy, rows: readonly Account[], total: Account): string[] {
  const right = (title: string) => ({ title, right: true });
  return [
    ...renderTable(
      [
        { title: by.toUpperCase() },
        right('TASKS'),
        right('REPLICAS'),
        right('FAILURES'),
        right('HELD'),
        right('CPU TIME'),
        right('MEMORY'),
      ],
      [...rows, total].map((account) => [
        account.name,
        String(account.tasks),
        String(account.replicas),
        String(account.failures),
        showProcessorSeconds(account.processorMs),
        showProcessorSeconds(account.processorTimeMs),
        account.memoryBytesMax === 0 ? '-' : showBytes(account.memoryBytesMax),
      ]),
    ),
    '',
    'HELD is processors times run time, CPU TIME is measured, both in processor-seconds; MEMORY is the most of one replica.',
  ];
}
