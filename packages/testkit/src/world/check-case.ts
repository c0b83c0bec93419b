import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TaskStatus, type TaskRecord } from '@mutirao/api/broker';
import type { BrokerClient } from '../grid/broker-client.ts';
import type { ExpectedEnd, WorldCase } from './world-case.ts';

const statuses = { finished: TaskStatus.FINISHED, failed: TaskStatus.FAILED };

/**
 * Everything in which a job's end differs from what its case expects, a sentence each; nothing when all is right.
 *
 * @param results the folder at home that holds a folder for each task.
 */
export async function listFaults(
  client: BrokerClient,
  jobId: number,
  { expected, outputs = [] }: WorldCase,
  results: string,
): Promise<string[]> {
  const faults: string[] = [];
  for (const task of await client.tasks(jobId)) {
    const found = [...recordFaults(task, expected), ...(await streamFaults(client, task, expected))];
    if (task.status === TaskStatus.FINISHED && outputs.length > 0) {
      found.push(...fileFaults(join(results, String(task.taskIndex)), expected), ...(await hashFaults(client, task)));
    }
    faults.push(...found.map((fault) => `task ${task.taskIndex}: ${fault}`));
  }
  return faults;
}

function recordFaults({ status, replicas }: TaskRecord, expected: ExpectedEnd): string[] {
  const { exitStatus, reason, detail } = replicas.at(-1) ?? {
    exitStatus: undefined,
    reason: 'no reason',
    detail: { text: 'it never ran' },
  };
  const faults: string[] = [];
  const compare = (name: string, found: unknown, want: unknown): void => {
    if (want !== undefined && found !== want)
      faults.push(`its ${name} is ${String(found)}, expected ${String(want)}: ${reason} ${detail?.text ?? ''}`);
  };
  compare('status', status, statuses[expected.status]);
  compare('exit status', exitStatus, expected.exitStatus);
  compare('reason', reason, expected.reason);
  // Three failures give a task up: whatever runs oftener was taken for the machine's fault.
  if (replicas.length > 3)
    faults.push(`it ran ${replicas.length} times: ${replicas.map(({ reason }) => reason).join(', ')}`);
  return faults;
}

async function streamFaults(
  client: BrokerClient,
  { jobId, taskIndex, value }: TaskRecord,
  expected: ExpectedEnd,
): Promise<string[]> {
  if (expected.standardOutput === undefined && expected.standardError === undefined) return [];
  const output = await client.rawOutput(jobId, taskIndex);
  return (['standardOutput', 'standardError'] as const).flatMap((stream) => {
    const [found, want] = [Buffer.from(output[stream]).toString('latin1'), expected[stream]];
    const isRight =
      want === undefined ||
      (typeof want === 'string'
        ? found === want.replaceAll('{}', value)
        : new RegExp(want.source.replaceAll('VALUE', value)).test(found));
    return isRight ? [] : [`its ${stream} is ${abridge(found)}`];
  });
}

/** Compares a folder at home with the files that are expected there. */
function fileFaults(folder: string, { files }: ExpectedEnd): string[] {
  if (files === undefined) return [];
  const found = new Map(listFiles(Buffer.from(folder)));
  const faults = Object.entries(files)
    .filter(([name, content]) => found.get(name) !== content)
    .map(([name]) => `${JSON.stringify(name)} is ${abridge(found.get(name) ?? 'missing')}`);
  const more = [...found.keys()]
    .filter((name) => !(name in files))
    .map((name) => `${JSON.stringify(name)} came home unasked`);
  return [...faults, ...more];
}

/** Whether each file at home is what was recorded of it. */
async function hashFaults(client: BrokerClient, { jobId, taskIndex }: TaskRecord): Promise<string[]> {
  const { files } = await client.rawOutput(jobId, taskIndex);
  return files.flatMap(({ path, localPath, content }) => {
    if (localPath === '' || content === undefined) return [];
    try {
      const digest = createHash('sha256').update(readFileSync(localPath)).digest('hex');
      return digest === Buffer.from(content.sha256).toString('hex')
        ? []
        : [`${path} has changed at home since it was accepted`];
    } catch {
      return []; // A name that no string can hold; its content was compared already.
    }
  });
}

/** All regular files below a folder: paths and contents as Latin-1 characters, for each byte one. */
function listFiles(folder: Buffer, below = ''): [string, string][] {
  return readdirSync(folder, { encoding: 'buffer' }).flatMap((name): [string, string][] => {
    const file = Buffer.concat([folder, Buffer.from('/'), name]);
    const path = `${below}${name.toString('latin1')}`;
    return lstatSync(file).isDirectory() ? listFiles(file, `${path}/`) : [[path, readFileSync(file, 'latin1')]];
  });
}

function abridge(text: string): string {
  return JSON.stringify(text.length <= 200 ? text : `${text.slice(0, 100)} ... ${text.slice(-90)} (${text.length})`);
}
