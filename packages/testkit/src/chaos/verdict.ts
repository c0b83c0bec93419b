import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { JobStatus, TaskStatus, type TaskRecord } from '@mutirao/api/broker';
import type { BrokerClient } from '../grid/broker-client.ts';
import { readGathered, type GatheredResult } from './read-gathered.ts';
import { describeWay, getExpected, outputPath, taskAt, type LoadFolders, type SubmittedJob } from './workload.ts';

/** What was looked at, and what was wrong with it; empty where all was well. */
export interface Finding {
  readonly what: string;
  readonly wrong: readonly string[];
}

/** What the records say of a load. */
export interface LoadRecords {
  /** When each accepted replica ended, in Unix milliseconds. */
  readonly acceptedAt: readonly number[];
  readonly findings: readonly Finding[];
}

/** Compares every task of every job with what is demand of it: its status, its one accepted replica, every byte. */
export async function judgeLoad(
  client: BrokerClient,
  jobs: readonly SubmittedJob[],
  folders: LoadFolders,
): Promise<LoadRecords> {
  const [unfinished, counted, outputs, foreigners]: [string[], string[], string[], string[]] = [[], [], [], []];
  const acceptedAt: number[] = [];
  for (const job of jobs) {
    const { status } = await client.job(job.jobId);
    const isCancelled = job.way.disposition === 'cancelled' && status === JobStatus.CANCELLED;
    if (status !== JobStatus.FINISHED && !isCancelled) unfinished.push(`${nameOf(job)} has status ${status}`);
    const tasks = await client.tasks(job.jobId);
    for (const task of tasks) {
      const name = `task ${task.taskIndex} of ${nameOf(job)}`;
      const accepted = task.replicas.filter((replica) => replica.accepted);
      acceptedAt.push(...accepted.map(({ endedUnixMs }) => endedUnixMs));
      if (!isEndedWell(task, isCancelled)) unfinished.push(`${name} has status ${task.status}: ${lastReason(task)}`);
      const wanted = task.status === TaskStatus.FINISHED ? 1 : 0;
      if (accepted.length !== wanted)
        counted.push(`${name} has ${accepted.length} accepted replicas where ${wanted} are right`);
    }
    const found = await judgeOutputs(client, job, tasks, folders);
    outputs.push(...found.wrong.map((line) => `${nameOf(job)}: ${line}`));
    foreigners.push(...found.foreigners.map((line) => `${nameOf(job)}: ${line}`));
  }
  return {
    acceptedAt,
    findings: [
      { what: 'every job and task finished, but for those that were cancelled', wrong: unfinished },
      { what: 'each finished task has exactly one accepted result, no other has one', wrong: counted },
      { what: 'every output is the expected one, byte by byte', wrong: outputs },
      { what: 'nothing else is among the outputs', wrong: foreigners },
    ],
  };
}

/** What a cancelled job has left may be cancelled, or have failed before. */
function isEndedWell({ status }: TaskRecord, isCancelled: boolean): boolean {
  return (
    status === TaskStatus.FINISHED || (isCancelled && (status === TaskStatus.CANCELLED || status === TaskStatus.FAILED))
  );
}

/** What came of the outputs of a job. */
interface JudgedOutputs {
  readonly wrong: readonly string[];
  /** Files that no finished task of the job brought home, and results in volumes that were not accepted. */
  readonly foreigners: readonly string[];
}

async function judgeOutputs(
  client: BrokerClient,
  job: SubmittedJob,
  tasks: readonly TaskRecord[],
  folders: LoadFolders,
): Promise<JudgedOutputs> {
  const finished = tasks
    .filter(({ status }) => status === TaskStatus.FINISHED)
    .map(({ taskIndex }) => ({ taskIndex, ...taskAt(job, taskIndex) }));
  const expected = new Set(finished.map((task) => outputPath(job.label, task)));
  const plain = filesBelow(folders.outputs, job.label);
  const gathered = job.way.isGathered
    ? await readGathered(job, folders)
    : { root: folders.outputs, members: plain, results: [], wrong: [], foreigners: [] };
  const wrong = [...gathered.wrong];
  for (const task of finished) {
    const path = outputPath(job.label, task);
    const found =
      path === undefined ? await client.output(job.jobId, task.taskIndex) : readOr(join(gathered.root, path));
    const fault = compare(found, getExpected(job.label, task.kind, task.index));
    if (fault !== undefined) wrong.push(`task ${task.taskIndex}: ${fault}`);
  }
  const foreigners = gathered.members.filter((path) => !expected.has(path));
  return {
    wrong,
    foreigners: [
      ...foreigners,
      ...findTwice(tasks, gathered.results),
      ...gathered.foreigners,
      ...(job.way.isGathered ? plain : []),
    ],
  };
}

/**
 * Results in an index that are not the accepted one of their task. One of a machine that was caught before it was
 * accepted may stand before that.
 */
export function findTwice(tasks: readonly TaskRecord[], results: readonly GatheredResult[]): string[] {
  const wrong: string[] = [];
  const replicas = new Map(tasks.flatMap((task) => task.replicas.map((replica) => [replica.replicaId, replica])));
  const last = new Map(results.map(({ taskIndex, replicaId }) => [taskIndex, replicaId]));
  const seen = new Set<number>();
  for (const { taskIndex, replicaId } of results) {
    const replica = replicas.get(replicaId);
    const isRight =
      last.get(taskIndex) === replicaId ? replica?.accepted === true : replica?.reason === 'MUT_MACHINE_QUARANTINED';
    if (!isRight || seen.has(replicaId))
      wrong.push(
        `task ${taskIndex} by r${replicaId}, ` +
          `${seen.has(replicaId) ? 'twice' : (replica?.reason ?? 'of which nothing is known')}`,
      );
    seen.add(replicaId);
  }
  return wrong;
}

/** What is wrong with the bytes of a task. @param found undefined where there are none. */
function compare(found: string | undefined, wanted: string): string | undefined {
  if (found === undefined) return 'its output is not there';
  return found === wanted
    ? undefined
    : `its output has ${found.length} bytes where ${wanted.length} others were expected, or the same number: ` +
        `${JSON.stringify(found.slice(0, 80))}`;
}

function readOr(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Paths of the files below a folder of a root, from the root on. */
function filesBelow(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)));
}

/** Holds each row of the ledger against its sum. */
export async function judgeLedger(client: BrokerClient): Promise<Finding> {
  const wrong: string[] = [];
  for (const row of await client.ledger()) {
    const sum = row.usedProcessorMs + row.losersProcessorMs + row.killedProcessorMs + row.idleProcessorMs;
    if (row.heldProcessorMs !== sum)
      wrong.push(
        `${row.providerId}/${row.requestId}: held ${row.heldProcessorMs}, but used + losers + killed + idle is ${sum}`,
      );
  }
  return { what: 'the ledger adds up', wrong };
}

/** Lets SQLite check each journal of a home folder, whose owners have ended, and looks for gaps. */
export function judgeJournals(home: string): Finding {
  const wrong: string[] = [];
  for (const name of readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('journal.sqlite'),
  )) {
    try {
      const database = new DatabaseSync(join(home, name), { timeout: 0 });
      const verdict = database.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
      if (verdict !== 'ok') wrong.push(`${name}: ${String(verdict)}`);
      const { count, last } = database.prepare('SELECT count(*) AS count, max(seq) AS last FROM changes').get() as {
        count: number;
        last: number | null;
      };
      if (count !== (last ?? 0)) wrong.push(`${name}: ${count} changes, the last is ${last ?? 0}`);
      database.close();
    } catch (error) {
      wrong.push(`${name}: ${String(error)}`);
    }
  }
  return { what: 'journals are whole and nobody holds them', wrong };
}

/** A process that ended over a bug leaves a dump, also one of an allocation. */
export function judgeCrashes(home: string, ownEnds: readonly string[]): Finding {
  const folder = join(home, 'crashes');
  const dumps = existsSync(folder)
    ? readdirSync(folder).map(
        (name) => `${name}: ${/== error\n(.*)/.exec(readFileSync(join(folder, name), 'utf8'))?.[1] ?? ''}`,
      )
    : [];
  return { what: 'no process ended by itself', wrong: [...ownEnds, ...dumps] };
}

/** Files that nobody needs after the end: drafts, arrivals, playpens, folders of allocations' agents. */
export function judgeLeftovers(home: string, outputs: string): Finding {
  const wrong: string[] = [];
  for (const [root, folder] of [
    ['home', home],
    ['outputs', outputs],
  ] as const) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (isLeftover(name)) wrong.push(join(root, name));
  }
  return { what: 'no draft, arrival, playpen or folder of an agent is left', wrong };
}

/**
 * The folder that agents share contents by is theirs for ever. Outputs that arrived, of replicas whose report never
 * did, stay a while: an agent that was away may still deliver it.
 */
const leftovers = [
  /\.(tmp|part)$/,
  /(^|\/)tmp\/./,
  /(^|\/)broker\/arrivals\/(?!t|drop-|begun-)/,
  /(^|\/)playpens\/./,
  /(^|\/)launchers\/./,
  /^agents\/(?!lab)[^/]*$/,
  /(^|\/)\.ballast$/,
];

function isLeftover(name: string): boolean {
  return leftovers.some((pattern) => pattern.test(name)) && !/^agents\/(pc\d+|\.contents)$/.test(name);
}

function nameOf({ label, jobId, way }: SubmittedJob): string {
  return `job ${jobId} (${label}, ${describeWay(way)})`;
}

function lastReason({ replicas }: TaskRecord): string {
  const last = replicas.at(-1);
  return last === undefined ? 'it never ran' : `${last.reason} ${last.detail?.text ?? ''}`.trim();
}
