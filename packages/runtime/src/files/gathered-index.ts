import { createReadStream } from 'node:fs';

import { MutiraoError } from '@mutirao/api/errors';
import { parseObject } from '@mutirao/core/shared';
import type { Bytes, JobId, ReplicaId, TaskIndex } from '@mutirao/core/shared';

import { fileError } from './file-errors.ts';

/** A file of a task's result within the volumes of its job: tar archives with an index next to them. */
export interface GatheredFile {
  readonly taskIndex: TaskIndex;
  readonly replicaId: ReplicaId;
  /** As it is called in the volume: from the job's home directory on. */
  readonly path: string;
  /** Name of the volume, which is in the folder of the index. */
  readonly volume: string;
  /** Where its bytes begin in the volume. */
  readonly offset: Bytes;
  readonly size: Bytes;
  /** Permission bits. */
  readonly mode: number;
  readonly sha256: string;
}

/** The job and the broker that an index belongs to. */
export interface GatheredOwner {
  readonly jobId: JobId;
  readonly brokerId: string;
  /** The journal that the broker spoke for; empty in the indexes of releases that named none. */
  readonly instance: string;
}

/** What an index says, as far as whole results go. */
export interface GatheredIndex {
  /** Undefined where not even the first line is whole. */
  readonly owner: GatheredOwner | undefined;
  /** Where the last whole result ends; the index ignores what a killed broker wrote after it. */
  readonly end: Bytes;
}

const begunSuffix = '.begun';

/** The name of the index of a job's gathered results. */
export function gatheredIndexName(jobId: JobId): string {
  return `job-${jobId}.index.jsonl`;
}

/** The name of a volume. @param number from 0. */
export function gatheredVolumeName(jobId: JobId, number: number): string {
  return `job-${jobId}.${String(number).padStart(3, '0')}.tar`;
}

/** The number in the name of a volume; undefined for any other name. */
export function gatheredVolumeNumber(jobId: JobId, name: string): number | undefined {
  const [, id, number] = /^job-(\d+)\.(\d{3,9})\.tar$/.exec(name) ?? [];
  return Number(id) === jobId && number !== undefined ? Number(number) : undefined;
}

/** The name of a volume until the index lists something in it. */
export function gatheredBegunName(jobId: JobId, number: number): string {
  return `${gatheredVolumeName(jobId, number)}${begunSuffix}`;
}

/** The number in such a name; undefined for any other name. */
export function gatheredBegunNumber(jobId: JobId, name: string): number | undefined {
  return name.endsWith(begunSuffix) ? gatheredVolumeNumber(jobId, name.slice(0, -begunSuffix.length)) : undefined;
}

/** The first line of an index. */
export function renderGatheredOwner({ jobId, brokerId, instance }: GatheredOwner): string {
  return `${JSON.stringify({ gathered_outputs: 1, job_id: jobId, broker_id: brokerId, broker_instance: instance })}\n`;
}

/** The lines of one result, which count only together. */
export function renderGatheredResult(files: readonly GatheredFile[]): string {
  return files
    .map(
      ({ taskIndex, replicaId, path, volume, offset, size, mode, sha256 }) =>
        `${JSON.stringify({
          task_index: taskIndex,
          path,
          volume,
          offset_bytes: offset,
          size_bytes: size,
          mode: mode.toString(8).padStart(3, '0'),
          sha256,
          replica_id: replicaId,
          files_count: files.length,
        })}\n`,
    )
    .join('');
}

/**
 * Reads an index from its beginning, a result at a time; if a task has several results, the last one counts.
 *
 * Cost: one pass over the file, and memory for one result.
 *
 * @throws {MutiraoError} MUT_FILE_NOT_FOUND, MUT_CONTENT_MISMATCH for a malformed line before the end.
 */
export async function readGatheredIndex(
  path: string,
  onResult: (files: readonly GatheredFile[]) => void,
): Promise<GatheredIndex> {
  const reading = new IndexReading(path, onResult);
  try {
    for await (const chunk of createReadStream(path)) reading.take(chunk as Buffer);
  } catch (error) {
    throw fileError(error, path);
  }
  return reading.finish();
}

/** The state of one pass over an index. */
class IndexReading {
  readonly #path: string;
  readonly #onResult: (files: readonly GatheredFile[]) => void;
  #rest: Buffer = Buffer.alloc(0);
  #owner: GatheredOwner | undefined;
  #position = 0;
  #end = 0;
  #lineCount = 0;
  #pending: GatheredFile[] = [];
  /** A line that could not be read is a torn end where nothing follows it. */
  #faultLine = 0;

  constructor(path: string, onResult: (files: readonly GatheredFile[]) => void) {
    this.#path = path;
    this.#onResult = onResult;
  }

  take(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (let at = this.#rest.indexOf(10); at >= 0; at = this.#rest.indexOf(10, from)) {
      this.#takeLine(this.#rest.toString('utf8', from, at), at + 1 - from);
      from = at + 1;
    }
    this.#rest = this.#rest.subarray(from);
  }

  finish(): GatheredIndex {
    return { owner: this.#owner, end: this.#end };
  }

  #takeLine(line: string, length: number): void {
    this.#lineCount += 1;
    this.#position += length;
    if (this.#faultLine > 0)
      throw new MutiraoError(
        'MUT_CONTENT_MISMATCH',
        `${this.#path}:${this.#faultLine} is not a line of an index of gathered outputs`,
      );
    const found = parseLine(line);
    if (this.#owner === undefined) this.#begin(found);
    else if (found === undefined || !('file' in found)) this.#faultLine = this.#lineCount;
    else this.#add(found.file, found.count);
  }

  #begin(found: Line | undefined): void {
    if (found === undefined || !('owner' in found))
      throw new MutiraoError(
        'MUT_CONTENT_MISMATCH',
        `${this.#path} does not begin as an index of gathered outputs does`,
      );
    this.#owner = found.owner;
    this.#end = this.#position;
  }

  #add(file: GatheredFile, count: number): void {
    this.#pending.push(file);
    if (file.replicaId !== this.#pending[0]?.replicaId) this.#faultLine = this.#lineCount;
    if (this.#pending.length < count || this.#faultLine > 0) return;
    this.#onResult(this.#pending);
    this.#pending = [];
    this.#end = this.#position;
  }
}

type Line = { readonly owner: GatheredOwner } | { readonly file: GatheredFile; readonly count: number };

function parseLine(line: string): Line | undefined {
  const fields = parseObject(line);
  if (fields === undefined) return undefined;
  if (fields['gathered_outputs'] === 1)
    return {
      owner: {
        jobId: Number(fields['job_id']),
        brokerId: String(fields['broker_id']),
        instance: String(fields['broker_instance'] ?? ''),
      },
    };
  const file: GatheredFile = {
    taskIndex: Number(fields['task_index']),
    replicaId: Number(fields['replica_id']),
    path: String(fields['path']),
    volume: String(fields['volume']),
    offset: Number(fields['offset_bytes']),
    size: Number(fields['size_bytes']),
    mode: Number.parseInt(String(fields['mode']), 8),
    sha256: String(fields['sha256']),
  };
  const count = Number(fields['files_count']);
  const isSound = [file.taskIndex, file.replicaId, file.offset, file.size, file.mode, count].every(
    (number) => Number.isSafeInteger(number) && number >= 0,
  );
  return isSound && count >= 1 ? { file, count } : undefined;
}
