import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { Bytes, JobId, ReplicaId } from '@mutirao/core/shared';
import { fileError, gatheredIndexName, isFullDisk } from '@mutirao/runtime/files';

import type { JournalInstance } from '../journal/journal-instance.ts';
import { JobVolumes, type ResultToGather } from './job-volumes.ts';

/** What gathering needs to know. */
export interface GathererOptions {
  readonly brokerId: string;
  readonly instance: JournalInstance;
  readonly volumeBytesMax: Bytes;
  /** Whether a replica's result is not settled yet, according to the journal. */
  isOpen(replicaId: ReplicaId): boolean;
}

/** Where the results of a job are gathered. */
export interface GatheredJob {
  readonly jobId: JobId;
  readonly folder: string;
}

interface Waiting {
  readonly result: ResultToGather;
  /** It is only asked whether the result is there. */
  readonly isQuestion: boolean;
  resolve(isThere: boolean): void;
  reject(error: unknown): void;
}

interface Queue {
  readonly waiting: Waiting[];
  volumes: JobVolumes | undefined;
  isRunning: boolean;
}

/** Results that are written together at most. */
const batchMax = 256;
/** Jobs whose place is remembered while nothing of them comes. */
const jobsMax = 32;

/** Gathers the results of jobs in few files, those that come together in one go. */
export class Gatherer {
  readonly #options: GathererOptions;
  readonly #queues = new Map<JobId, Queue>();

  constructor(options: GathererOptions) {
    this.#options = options;
  }

  /** Mends what a killed broker left of a job's volumes. @throws {MutiraoError} as `gather`. */
  async takeUp(job: GatheredJob): Promise<void> {
    await this.holds(job, { taskIndex: 0, replicaId: 0, files: [] });
  }

  /**
   * Whether the files of a result are in a volume and in the index, as after a crash between that and the journal's
   * word of it: they may not be where they came to any more.
   *
   * @throws {MutiraoError} as `gather`.
   */
  async holds(job: GatheredJob, result: ResultToGather): Promise<boolean> {
    if ((await stat(join(job.folder, gatheredIndexName(job.jobId))).catch(() => undefined)) === undefined) return false;
    return await this.#enqueue(job, result, true);
  }

  /**
   * Resolves when the files of a result are in a volume and in the index; they are moved. Doing it again is harmless.
   *
   * @throws {MutiraoError} MUT_DISK_FULL; MUT_CONTENT_NOT_FOUND for a file that is not there; MUT_OUTPUT_FORBIDDEN
   * where the folder does not take it.
   */
  async gather(job: GatheredJob, result: ResultToGather): Promise<void> {
    await this.#enqueue(job, result);
    for (const { source } of result.files) await rm(source, { force: true });
  }

  #enqueue(job: GatheredJob, result: ResultToGather, isQuestion = false): Promise<boolean> {
    const queue = this.#findQueue(job.jobId);
    return new Promise((resolve, reject) => {
      queue.waiting.push({ result, isQuestion, resolve, reject });
      if (!queue.isRunning) void this.#run(job, queue);
    });
  }

  #findQueue(jobId: JobId): Queue {
    const queue = this.#queues.get(jobId) ?? { waiting: [], volumes: undefined, isRunning: false };
    this.#queues.delete(jobId);
    this.#queues.set(jobId, queue);
    for (const [id, { isRunning }] of this.#queues) {
      if (this.#queues.size <= jobsMax) break;
      if (!isRunning && id !== jobId) this.#queues.delete(id);
    }
    return queue;
  }

  async #run(job: GatheredJob, queue: Queue): Promise<void> {
    queue.isRunning = true;
    while (queue.waiting.length > 0) await this.#write(job, queue, queue.waiting.splice(0, batchMax));
    queue.isRunning = false;
  }

  /** Never rejects; each waiting caller receives the error. */
  async #write(job: GatheredJob, queue: Queue, batch: readonly Waiting[]): Promise<void> {
    try {
      queue.volumes ??= await this.#open(job);
      const { volumes } = queue;
      const present = await unsettled(batch, volumes);
      await volumes.append(present.map(({ result }) => result));
      for (const { resolve } of present) resolve(true);
    } catch (error) {
      // Reads the volumes again before the next write, which also cuts off what was written of these, where possible.
      queue.volumes = queue.volumes === undefined ? undefined : await this.#open(job).catch(() => undefined);
      for (const { reject } of batch) reject(gatheringError(error, job.folder));
    }
  }

  #open(job: GatheredJob): Promise<JobVolumes> {
    return JobVolumes.open({ ...this.#options, ...job });
  }
}

/** Settles those that need no writing, and answers the others. */
async function unsettled(batch: readonly Waiting[], volumes: JobVolumes): Promise<Waiting[]> {
  const present: Waiting[] = [];
  for (const waiting of batch) {
    const { result } = waiting;
    const { files } = result;
    const isThere = files.length === 0 || volumes.has(result);
    if (isThere || waiting.isQuestion) waiting.resolve(isThere);
    else {
      const missing = await findMissing(files);
      if (missing === undefined) present.push(waiting);
      else waiting.reject(new MutiraoError('MUT_CONTENT_NOT_FOUND', `the bytes of ${missing} are not here any more`));
    }
  }
  return present;
}

async function findMissing(files: ResultToGather['files']): Promise<string | undefined> {
  for (const { source, bytes, path, size } of files) {
    const found = bytes?.length ?? (await stat(source).catch(() => undefined))?.size;
    if (found !== size) return path;
  }
  return undefined;
}

/**
 * What `gather` may throw. Another code is of a file in the folder, an index that was damaged for example, and must not
 * pass for an error of the result.
 */
const gatheringCodes: ReadonlySet<string> = new Set(['MUT_DISK_FULL', 'MUT_CONTENT_NOT_FOUND', 'MUT_OUTPUT_FORBIDDEN']);

function gatheringError(error: unknown, folder: string): unknown {
  if (error instanceof MutiraoError && gatheringCodes.has(error.code)) return error;
  if (isFullDisk(error)) return fileError(error, folder);
  return new MutiraoError('MUT_OUTPUT_FORBIDDEN', `results cannot be gathered in ${folder}: ${String(error)}`, {
    cause: error,
  });
}
