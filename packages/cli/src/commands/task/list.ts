import type { Command } from 'commander';

import { TaskStatus, type ReplicaRecord, type TaskRecord } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import { readFields } from '@mutirao/core/bag';
import { Outcome } from '@mutirao/api/machine';

import type { BrokerClient } from '@mutirao/runtime/clients';
import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { taskJson } from '../../json/documents.ts';
import { taskStatusText } from '../../output/status-words.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration, showTimeOfDay } from '../../output/units.ts';
import { resolveJobId, resolveTaskIndexes } from '../../selectors.ts';
import { getValue } from '../../wire/names.ts';

/** Which tasks are wanted, and how much of them. */
export interface ListTasksOptions {
  readonly status?: string;
  readonly max: string;
  readonly replicas?: true;
}

export function define(command: Command, act: Act): void {
  command
    .argument('[job]', 'a job number, or "last" (default: last)', 'last')
    .argument('[tasks]', 'which tasks: 5, 0-10:2, last or all (default: all)', 'all')
    .option(
      '--status <status>',
      'only tasks in this state: waiting, ready, dispatched, running, verifying, finished, failed or cancelled',
    )
    .option('--max <count>', 'list at most this many tasks; 0 = all', '1000')
    .option('--replicas', 'print one line per replica, instead of one per task')
    .action((job: string, tasks: string, options: ListTasksOptions) =>
      act((context) => listTasks(context, { job, tasks }, options)),
    );
}

/** Lists tasks of a job by index. */
export async function listTasks(
  context: CommandContext,
  { job, tasks }: { job: string; tasks: string },
  options: ListTasksOptions,
): Promise<ExitStatus> {
  const status = statusOf(options.status);
  const max = Number(options.max);
  if (!Number.isInteger(max) || max < 0)
    throw new MutiraoError('MUT_BAD_REQUEST', `--max is "${options.max}"; expected an integer of 0 or more`);
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, job);
  const taskIndexes = await resolveTaskIndexes(broker, jobId, tasks);
  const { found, more } = await fetchTasks(broker, { jobId, taskIndexes, ...status }, max === 0 ? Infinity : max);
  printResult(context.output, {
    json: () => found.map(taskJson),
    table: () => taskTable(found, options.replicas === true, context.clock.now()),
    quiet: () => found.map((task) => task.taskIndex),
  });
  if (more) context.output.note(`More tasks match. Raise --max (now ${max}), or select by --status or task numbers.`);
  return 0;
}

function statusOf(word: string | undefined): Pick<WantedTasks, 'status' | 'word'> {
  if (word === undefined) return { status: TaskStatus.UNSPECIFIED };
  const words = Object.keys(TaskStatus)
    .slice(1)
    .flatMap((name) => (name === 'RUNNING' ? ['dispatched', 'running'] : [name.toLowerCase()]));
  if (!words.includes(word))
    throw new MutiraoError('MUT_BAD_REQUEST', `--status is "${word}"; expected one of ${words.join(', ')}`);
  // The broker counts tasks that are placed among those that run.
  return word === 'dispatched' || word === 'running'
    ? { status: TaskStatus.RUNNING, word }
    : { status: getValue(TaskStatus, word) };
}

/** Which tasks of a job are wanted. */
export interface WantedTasks {
  readonly jobId: number;
  readonly taskIndexes: number[];
  readonly status: TaskStatus;
  /** Separates running tasks from placed ones; left out if both are wanted, or neither. */
  readonly word?: 'dispatched' | 'running';
}

/** Reads pages of tasks until `max` of them, or all, are read. */
export async function fetchTasks(
  broker: BrokerClient,
  { word, ...wanted }: WantedTasks,
  max: number,
): Promise<{ found: TaskRecord[]; more: boolean }> {
  const found: TaskRecord[] = [];
  let from: number | undefined = 0;
  while (from !== undefined && found.length < max) {
    const page: { tasks: TaskRecord[]; nextTaskIndex?: number | undefined } = await broker.listTasks({
      ...wanted,
      pageSize: Math.min(1000, max - found.length),
      fromTaskIndex: from,
    });
    found.push(...page.tasks.filter((task) => word === undefined || taskStatusText(task) === word));
    from = page.nextTaskIndex;
  }
  return { found, more: from !== undefined };
}

const columns = [
  { title: 'TASK', right: true },
  { title: 'VALUE' },
  { title: 'STATUS' },
  { title: 'MACHINE' },
  { title: 'REPLICA', right: true },
  { title: 'DISPATCHED' },
  { title: 'WAITED', right: true },
  { title: 'RUN TIME', right: true },
  { title: 'EXIT', right: true },
  { title: 'REASON' },
];

/** Tasks as a table: one line each, or one per replica. */
export function taskTable(tasks: readonly TaskRecord[], everyReplica: boolean, now: number): string[] {
  const rows = tasks.flatMap((task) => {
    const shown = everyReplica ? task.replicas : [reportingReplica(task)].filter((replica) => replica !== undefined);
    const head = [String(task.taskIndex), shorten(showValue(task.value)), taskStatusText(task)];
    if (shown.length === 0) return [[...head, '-', '-', '-', '-', '-', '-', remarkOn(task)]];
    return shown.map((replica, index) => [...(index === 0 ? head : ['', '', '']), ...replicaCells(replica, now)]);
  });
  return renderTable(columns, rows);
}

/** Of a task that was never placed. */
function remarkOn({ reusedFrom, waitsFor }: TaskRecord): string {
  if (reusedFrom !== undefined) return `reused from task ${reusedFrom.taskIndex} of job ${reusedFrom.jobId}`;
  return waitsFor.length === 0 ? '' : `waits for ${waitsFor.join(', ')}`;
}

/** The replica that counts: the accepted one, else the latest. */
export function reportingReplica(task: TaskRecord): ReplicaRecord | undefined {
  return task.replicas.find((replica) => replica.accepted) ?? task.replicas.at(-1);
}

function replicaCells(replica: ReplicaRecord, now: number): string[] {
  const ended = replica.endedUnixMs !== 0;
  const started = replica.startedUnixMs !== 0;
  const until = ended ? replica.endedUnixMs : now;
  return [
    replica.machineId,
    `r${replica.replicaId}`,
    showTimeOfDay(replica.dispatchedUnixMs),
    showDuration(Math.max(0, (started ? replica.startedUnixMs : until) - replica.dispatchedUnixMs)),
    started ? showDuration(Math.max(0, until - replica.startedUnixMs)) : '-',
    ended && started && replica.outcome !== Outcome.UNSPECIFIED ? String(replica.exitStatus) : '-',
    [replica.reason, replica.detail?.text ?? ''].filter((text) => text !== '').join(': '),
  ];
}

/** Parameters with names as `a=1 b=x`; any other value as it is. */
export function showValue(value: string): string {
  const fields = readFields(value);
  if (fields === undefined) return value;
  return Object.entries(fields)
    .map(([name, field]) => `${name}=${field}`)
    .join(' ');
}

function shorten(value: string): string {
  const line = value.replace(/\s+/g, ' ');
  return line.length <= 24 ? line : `${line.slice(0, 21)}...`;
}
