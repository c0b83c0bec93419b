import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { JobStatus, TaskStatus, type TaskRecord } from '@mutirao/api/broker';
import type { BrokerClient } from '../grid/broker-client.ts';
import { expectedOf, outputPath, taskAt, type LoadFolders, type LoadJob } from './workload.ts';

/** What was looked at, and what was wrong with it; empty where all was well. */
export interface Finding {
  readonly what: string;
  readonly wrong: readonly string[];
}

/** A job of the load that was accepted. */
export interface SubmittedJob extends LoadJob {
  readonly jobId: number;
}

/** What the records say of a load. */
export interface LoadRecords {
  /** When each accepted replica ended, in Unix milliseconds. */
  readonly acceptedAt: readonly number[];
  readonly findings: readonly Finding[];
}

/** Compares every task of every job with what is expected of it: its status, its one accepted replica, every byte. */
export async function judgeLoad(client: BrokerClient, jobs: readonly SubmittedJob[], folders: LoadFolders): Promise<LoadRecords> {
  const [unfinished, counted, outputs, strangers]: [string[], string[], string[], string[]] = [[], [], [], []];
  const acceptedAt: number[] = [];
  for (const job of jobs) {
    const { status } = await client.job(job.jobId);
    if (status !== JobStatus.FINISHED) unfinished.push(`${job.label} has status ${status}`);
    const tasks = await client.tasks(job.jobId);
    for (const task of tasks) {
      const accepted = task.replicas.filter((replica) => replica.accepted);
      acceptedAt.push(...accepted.map(({ endedUnixMs }) => endedUnixMs));
      if (task.status !== TaskStatus.FINISHED) unfinished.push(`${nameOf(job, task)} has status ${task.status}: ${lastReason(task)}`);
      if (accepted.length !== 1) counted.push(`${nameOf(job, task)} has ${accepted.length} accepted replicas`);
      const wrong = await findWrongOutput(client, job, task, folders);
      if (wrong !== undefined) outputs.push(`${nameOf(job, task)}: ${wrong}`);
    }
    strangers.push(...findStrangers(job, tasks, folders));
  }
  return {
    acceptedAt,
    findings: [
      { what: 'every job and task finished', wrong: unfinished }, { what: 'each task has exactly one accepted result', wrong: counted },
      { what: 'every output is the expected one, byte by byte', wrong: outputs }, { what: 'nothing else is among the outputs', wrong: strangers },
    ],
  };
}

/** Holds each row of the ledger against its sum. */
export async function judgeLedger(client: BrokerClient): Promise<Finding> {
  const wrong: string[] = [];
  for (const row of await client.ledger()) {
    const sum = row.usedProcessorMs + row.losersProcessorMs + row.killedProcessorMs + row.idleProcessorMs;
    if (row.heldProcessorMs !== sum) wrong.push(`${row.providerId}/${row.requestId}: held ${row.heldProcessorMs}, but used + losers + killed + idle is ${sum}`);
  }
  return { what: 'the ledger adds up', wrong };
}

/** Lets SQLite check each journal of a home folder, whose owners have ended, and looks for gaps. */
export function judgeJournals(home: string): Finding {
  const wrong: string[] = [];
  for (const name of readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('journal.sqlite'))) {
    try {
      const database = new DatabaseSync(join(home, name), { timeout: 0 });
      const verdict = database.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
      if (verdict !== 'ok') wrong.push(`${name}: ${String(verdict)}`);
      const { count, last } = database.prepare('SELECT count(*) AS count, max(seq) AS last FROM changes').get() as { count: number; last: number | null };
      if (count !== (last ?? 0)) wrong.push(`${name}: ${count} changes, the last is ${last ?? 0}`);
      database.close();
    } catch (error) {
      wrong.push(`${name}: ${String(error)}`);
    }
  }
  return { what: 'journals are whole and nobody holds them', wrong };
}

/** Files that nobody needs after the end: drafts, arrivals, playpens, folders of allocations' agents. */
export function judgeLeftovers(home: string, outputs: string): Finding {
  const wrong: string[] = [];
  for (const [root, folder] of [['home', home], ['outputs', outputs]] as const) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) if (isLeftover(name)) wrong.push(join(root, name));
  }
  return { what: 'no draft, arrival, playpen or folder of an agent is left', wrong };
}

/** Outputs that arrived, of replicas whose report never did, stay a while: an agent that was away may still deliver it. */
const leftovers = [/\.(tmp|part)$/, /(^|\/)tmp\/./, /(^|\/)broker\/arrivals\/(?!t)/, /(^|\/)playpens\/./, /(^|\/)launchers\/./, /^agents\/(?!lab)[^/]*$/, /(^|\/)\.ballast$/];

function isLeftover(name: string): boolean {
  return leftovers.some((pattern) => pattern.test(name)) && !/^agents\/pc\d+$/.test(name);
}

async function findWrongOutput(client: BrokerClient, job: SubmittedJob, task: TaskRecord, folders: LoadFolders): Promise<string | undefined> {
  const { kind, index } = taskAt(job, task.taskIndex);
  const path = outputPath(folders, job.label, { kind, index });
  if (path !== undefined && !existsSync(path)) return 'its output is not there';
  const found = path === undefined ? await client.output(job.jobId, task.taskIndex) : readFileSync(path, 'utf8');
  const wanted = expectedOf(job.label, kind, index);
  return found === wanted ? undefined : `its output has ${found.length} bytes where ${wanted.length} others were expected, or the same number: ${JSON.stringify(found.slice(0, 80))}`;
}

function findStrangers({ label, ...job }: SubmittedJob, tasks: readonly TaskRecord[], folders: LoadFolders): string[] {
  const wanted = new Set(tasks.map((task) => {
    const { kind, index } = taskAt({ label, ...job }, task.taskIndex);
    return outputPath({ ...folders, outputs: '' }, label, { kind, index });
  }));
  const folder = join(folders.outputs, label);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => !wanted.has(join(label, name))).map((name) => join(label, name));
}

function nameOf({ label, jobId }: SubmittedJob, { taskIndex }: TaskRecord): string {
  return `task ${taskIndex} of job ${jobId} (${label})`;
}

function lastReason({ replicas }: TaskRecord): string {
  const last = replicas.at(-1);
  return last === undefined ? 'it never ran' : `${last.reason} ${last.detail}`.trim();
}
