import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { Bytes, JobId, ReplicaId, TaskIndex } from '@mutirao/core/shared';
import {
  gatheredBegunName,
  gatheredBegunNumber,
  gatheredIndexName,
  gatheredVolumeName,
  gatheredVolumeNumber,
  readGatheredIndex,
  renderGatheredOwner,
  renderGatheredResult,
  type GatheredFile,
  type GatheredOwner,
} from '@mutirao/runtime/files';

import type { JournalInstance } from '../journal/journal-instance.ts';
import { tarBlock, tarEnd, tarHeader, tarPadding } from './tar-blocks.ts';
import { VolumeWriter } from './volume-writer.ts';

/** A file of a result to archive. */
export interface FileToGather {
  /** Where it is now. */
  readonly source: string;
  /** What it holds, where that is in memory anyway. */
  readonly bytes?: Uint8Array | undefined;
  /** What it is called in the volume. */
  readonly path: string;
  readonly size: Bytes;
  readonly mode: number;
  readonly sha256: string;
}

/** The files of one replica; they get into the index together or not at all. */
export interface ResultToGather {
  readonly taskIndex: TaskIndex;
  readonly replicaId: ReplicaId;
  readonly files: readonly FileToGather[];
}

/** Whose results are gathered, and where. */
export interface JobVolumesOptions {
  readonly folder: string;
  readonly jobId: JobId;
  readonly brokerId: string;
  readonly instance: JournalInstance;
  /** A volume that holds as much gets no more results. */
  readonly volumeBytesMax: Bytes;
  /** Whether a replica may come again although it is in the index: its acceptance may not be in the journal. */
  isOpen(replicaId: ReplicaId): boolean;
}

/**
 * The archived outputs of one job: ordinary tar archives, and an index of their files.
 *
 * The index decides. A result is written into the volume, then listed in the index, then accepted; bytes of a killed
 * broker beyond the index are cut off when the job is resumed. Between two calls each volume is a whole archive. A
 * volume has another name until the index lists something in it, which marks one that a killed broker began as empty.
 */
export class JobVolumes {
  readonly #options: JobVolumesOptions;
  /** What the index lists for each result. */
  readonly #indexed: ReadonlyMap<ReplicaId, string>;
  #indexEnd: Bytes;
  #number: number;
  #end: Bytes;
  /** Whether the index lists nothing in the volume yet. */
  #isBegun = false;

  private constructor(options: JobVolumesOptions, found: Found) {
    this.#options = options;
    this.#indexed = found.indexed;
    this.#indexEnd = found.indexEnd;
    this.#number = found.number;
    this.#end = found.end;
  }

  /**
   * Resumes existing volumes, or begins the first.
   *
   * @throws {MutiraoError} MUT_OUTPUT_FORBIDDEN where the index is another broker's, MUT_CONTENT_MISMATCH where it is
   * damaged.
   */
  static async open(options: JobVolumesOptions): Promise<JobVolumes> {
    await mkdir(options.folder, { recursive: true });
    const volumes = new JobVolumes(options, await find(options));
    await volumes.#repair();
    return volumes;
  }

  /** Whether a result is in the index already, with these bytes, as far as anybody may still ask. */
  has(result: ResultToGather): boolean {
    return this.#indexed.get(result.replicaId) === describeBytes(result);
  }

  /**
   * Adds results after those that are there.
   *
   * When it throws none of them is added, and what was written of them is written over by the next.
   * @throws what the file system throws.
   */
  async append(results: readonly ResultToGather[]): Promise<void> {
    for (let from = 0; from < results.length; ) from += await this.#appendToVolume(results.slice(from));
  }

  /** Answers how many of them went into the volume that has room, one at least. */
  async #appendToVolume(results: readonly ResultToGather[]): Promise<number> {
    const { volumeBytesMax } = this.#options;
    if (this.#end >= volumeBytesMax) await this.#beginVolume();
    const lines: string[] = [];
    let end: Bytes;
    {
      await using writer = await VolumeWriter.openAt(this.#volumePath, this.#end);
      for (const result of results) {
        if (writer.position >= volumeBytesMax) break;
        lines.push(renderGatheredResult(await this.#write(writer, result)));
      }
      end = writer.position;
      await writer.add(tarEnd);
      await writer.flush();
    }
    await this.#writeIndex(Buffer.from(lines.join('')));
    if (this.#isBegun) await this.#giveName();
    this.#end = end;
    return lines.length;
  }

  async #write(writer: VolumeWriter, { taskIndex, replicaId, files }: ResultToGather): Promise<GatheredFile[]> {
    const volume = gatheredVolumeName(this.#options.jobId, this.#number);
    const modifiedSeconds = Math.floor(Date.now() / 1000);
    const gathered: GatheredFile[] = [];
    for (const { source, bytes, path, size, mode, sha256 } of files) {
      await writer.add(tarHeader({ path, size, mode, modifiedSeconds }));
      gathered.push({ taskIndex, replicaId, path, volume, offset: writer.position, size, mode, sha256 });
      await (bytes === undefined ? writer.addFile(source, size) : writer.add(bytes));
      await writer.add(Buffer.alloc(tarPadding(size)));
    }
    return gathered;
  }

  async #writeIndex(bytes: Uint8Array): Promise<void> {
    await using writer = await VolumeWriter.openAt(this.#indexPath, this.#indexEnd);
    await writer.add(bytes);
    await writer.flush();
    this.#indexEnd = writer.position;
  }

  /** Never one that is there: its index may be gone, and it may hold what its user wants. */
  async #beginVolume(): Promise<void> {
    this.#number = await nextNumber(this.#options, this.#number + 1);
    this.#isBegun = true;
    this.#end = 0;
  }

  async #giveName(): Promise<void> {
    const begunPath = this.#volumePath;
    this.#isBegun = false;
    await rename(begunPath, this.#volumePath);
  }

  async #repair(): Promise<void> {
    const {
      jobId,
      brokerId,
      instance: { name },
    } = this.#options;
    await this.#writeIndex(
      this.#indexEnd === 0 ? Buffer.from(renderGatheredOwner({ jobId, brokerId, instance: name })) : Buffer.alloc(0),
    );
    if (this.#number < 0) return;
    await using writer = await VolumeWriter.openAt(this.#volumePath, this.#end);
    await writer.add(tarEnd);
    await writer.flush();
  }

  get #indexPath(): string {
    return join(this.#options.folder, gatheredIndexName(this.#options.jobId));
  }

  get #volumePath(): string {
    const nameOf = this.#isBegun ? gatheredBegunName : gatheredVolumeName;
    return join(this.#options.folder, nameOf(this.#options.jobId, this.#number));
  }
}

interface Found {
  readonly indexed: ReadonlyMap<ReplicaId, string>;
  readonly indexEnd: Bytes;
  /** Of the volume that takes the next result; -1 where none does. */
  readonly number: number;
  readonly end: Bytes;
}

async function find(options: JobVolumesOptions): Promise<Found> {
  const { folder, jobId, isOpen } = options;
  const path = join(folder, gatheredIndexName(jobId));
  const indexed = new Map<ReplicaId, string>();
  const fresh = { indexed, indexEnd: 0, number: -1, end: Infinity };
  if ((await stat(path).catch(() => undefined)) === undefined) return fresh;
  let last: GatheredFile | undefined;
  const { owner, end } = await readGatheredIndex(path, (files) => {
    last = files.at(-1);
    if (last !== undefined && isOpen(last.replicaId))
      indexed.set(last.replicaId, describeBytes({ taskIndex: last.taskIndex, files }));
  });
  if (owner === undefined) return fresh;
  if (!isOwn(owner, options)) {
    throw new MutiraoError(
      'MUT_OUTPUT_FORBIDDEN',
      `${path} is of job ${owner.jobId} of another broker, or of one whose journal is gone; expected another folder ` +
        'for what is gathered',
    );
  }
  await settleBegun(options, last);
  return { indexed, indexEnd: end, ...(await findPlace(options, last)) };
}

/** Jobs of before this instance were begun by another one, as a back-up keeps them. */
function isOwn(owner: GatheredOwner, { jobId, brokerId, instance }: JobVolumesOptions): boolean {
  return (
    owner.jobId === jobId &&
    owner.brokerId === brokerId &&
    (owner.instance === instance.name || jobId < instance.firstJobId)
  );
}

/** A text that differs for different results. */
function describeBytes({
  taskIndex,
  files,
}: {
  readonly taskIndex: TaskIndex;
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
}): string {
  return JSON.stringify([taskIndex, ...files.map(({ path, sha256 }) => [path, sha256])]);
}

/**
 * Renames a volume that a killed broker began to its final name if the index lists something in it, and removes it
 * otherwise.
 */
async function settleBegun({ folder, jobId }: JobVolumesOptions, last: GatheredFile | undefined): Promise<void> {
  for (const name of await readdir(folder)) {
    const number = gatheredBegunNumber(jobId, name);
    if (number === undefined) continue;
    const volume = gatheredVolumeName(jobId, number);
    if (last?.volume === volume && (await stat(join(folder, volume)).catch(() => undefined)) === undefined)
      await rename(join(folder, name), join(folder, volume));
    else await rm(join(folder, name), { force: true });
  }
}

/** Volumes that were moved away, or that lost their end with their host, get nothing more. */
async function findPlace(
  { folder, jobId }: JobVolumesOptions,
  last: GatheredFile | undefined,
): Promise<Pick<Found, 'number' | 'end'>> {
  if (last === undefined) return { number: -1, end: Infinity };
  const end = Math.ceil((last.offset + last.size) / tarBlock) * tarBlock;
  const number = gatheredVolumeNumber(jobId, last.volume) ?? -1;
  const size = (await stat(join(folder, last.volume)).catch(() => undefined))?.size ?? 0;
  return size >= end ? { number, end } : { number: -1, end: Infinity };
}

/** The least number from a given one on that is above those of all volumes that are there. */
async function nextNumber({ folder, jobId }: JobVolumesOptions, from: number): Promise<number> {
  const numbers = (await readdir(folder)).map(
    (name) => gatheredVolumeNumber(jobId, name) ?? gatheredBegunNumber(jobId, name) ?? -1,
  );
  return numbers.reduce((least, number) => Math.max(least, number + 1), from);
}
