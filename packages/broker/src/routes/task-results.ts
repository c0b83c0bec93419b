import { readFile } from 'node:fs/promises';

import { TaskResult, type JobEvent, type ResultFile, type TaskFile } from '@mutirao/api/broker';
import type { Content } from '@mutirao/api/common';
import { findUserJob, type BrokerJob } from '@mutirao/core/machines/broker';
import type { Bytes, TaskIndex, UserId } from '@mutirao/core/shared';
import type { WatchedEvent } from '@mutirao/runtime/rpc';

import { getOrigin } from '../staging/task-of-job.ts';
import { Templates } from '../staging/variables.ts';
import type { BrokerParts } from './broker-parts.ts';
import { findReportingRecord, getFiles } from './get-task-output.ts';

/** What reading results needs of the broker. */
export type ResultParts = Pick<BrokerParts, 'records' | 'specs' | 'blobs' | 'driver'>;

/** Events of more tasks have no results. */
const tasksMax = 1000;
/** Tasks that lie farther apart in their job are read one by one: records in between would be read for nothing. */
const gapMax = 64;

/**
 * Adds to each event of finished tasks what they brought home, as far as it fits. @param bytesMax of all results of one
 * event, the names and hashes of files included.
 */
export async function addResults(
  parts: ResultParts,
  userId: UserId,
  events: readonly WatchedEvent<JobEvent>[],
  bytesMax: Bytes,
): Promise<void> {
  for (const { event } of events) {
    if (event.type !== 'tasks.finished' || event.taskIndexes.length > tasksMax || event.taskCount !== undefined)
      continue;
    const job = findUserJob(parts.driver.state, userId, event.jobId);
    if (job !== undefined) event.results = { results: await readResults(parts, job, event.taskIndexes, bytesMax) };
  }
}

async function readResults(
  parts: ResultParts,
  job: BrokerJob,
  taskIndexes: readonly TaskIndex[],
  bytesMax: Bytes,
): Promise<TaskResult[]> {
  const results: TaskResult[] = [];
  const templates = new Templates();
  let room = bytesMax;
  for (const run of listRuns(taskIndexes)) {
    const endings = parts.records.endingsOf(job.jobId, run[0] as TaskIndex, run.at(-1) as TaskIndex);
    for (const taskIndex of run) {
      const record = findReportingRecord(endings.get(taskIndex) ?? []);
      if (record?.disposition !== 'accepted' || isTaken(parts, job, taskIndex)) continue;
      const files = getFiles(parts, job, { ...record, taskIndex }, templates);
      const result = { taskIndex, exitStatus: record.exitStatus, machineId: record.machineId, files: [] };
      const size = sizeWithoutData({ ...result, files });
      if (size > room) continue; // Another task's may still fit.
      room -= size;
      const read = await readFiles(parts, job, files, room);
      room -= read.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
      results.push({ ...result, files: read });
    }
  }
  return results;
}

/** As it travels, but for the bytes of files. */
function sizeWithoutData({ files, ...result }: TaskResult): Bytes {
  const named = files.map(({ path, content }) => ({ path, content }));
  return TaskResult.encode({ ...result, files: named }).finish().length;
}

/** Its record is that of another job's task. */
function isTaken({ specs }: ResultParts, job: BrokerJob, taskIndex: TaskIndex): boolean {
  return getOrigin(specs.getSpec(job), { jobId: job.jobId, taskIndex }).jobId !== job.jobId;
}

async function readFiles(
  { blobs }: ResultParts,
  { userId }: BrokerJob,
  files: readonly TaskFile[],
  bytesMax: Bytes,
): Promise<ResultFile[]> {
  const read: ResultFile[] = [];
  let room = bytesMax;
  for (const { path, content, localPath } of files) {
    const isHere = content !== undefined && localPath === '' && content.sizeBytes <= room;
    const data = isHere ? await readBlob(blobs, userId, content) : undefined;
    room -= data?.length ?? 0;
    read.push({ path, content, data });
  }
  return read;
}

/** Undefined for one that is gone or has another size. */
async function readBlob(
  blobs: ResultParts['blobs'],
  userId: UserId,
  { sha256, sizeBytes }: Content,
): Promise<Buffer | undefined> {
  const data = await readFile(blobs.getPath(userId, Buffer.from(sha256).toString('hex'))).catch(() => undefined);
  return data?.length === sizeBytes ? data : undefined;
}

/** Splits ascending indexes where they lie far apart. */
function listRuns(taskIndexes: readonly TaskIndex[]): TaskIndex[][] {
  const runs: TaskIndex[][] = [];
  for (const taskIndex of taskIndexes.toSorted((one, other) => one - other)) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run === undefined || last === undefined || taskIndex - last > gapMax) runs.push([taskIndex]);
    else run.push(taskIndex);
  }
  return runs;
}
