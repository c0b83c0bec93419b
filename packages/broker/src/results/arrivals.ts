import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { LRUCache } from 'lru-cache';

import { bytesOfName } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';

import type { Content, OutputContent } from '@mutirao/core/messages';
import { fileError } from '@mutirao/runtime/files';
import type { Bytes, Duration, Instant, MachineId, ReplicaId } from '@mutirao/core/shared';
import { hashRegular } from '@mutirao/runtime/files';

import { UnreportedBytes } from './unreported-bytes.ts';

const droppedPattern = /^drop-[0-9a-f]{32}$/;

/** Which replica an output came out of, and where it ran. */
export interface Origin {
  readonly replicaId: ReplicaId;
  readonly machineId: MachineId;
}

const partPrefix = 'part-';
const begunPrefix = 'begun-';
/** Small outputs that are in memory too, for readers that come soon; the least recently used is dropped first. */
const recentBytesMax: Bytes = 16 * 1024 * 1024;
/** A transfer that nobody has resumed for this time cannot be resumed any more. */
const begunAgeMax: Duration = 24 * 3_600_000;

/**
 * The outputs of replicas between their arrival and their acceptance, a file each.
 *
 * A file's name follows from what the journal knows of it, so that a broker that was restarted finds it again. Nothing
 * is shared between replicas: an accepted file is moved away, and a surplus one removed, without asking anybody.
 */
export class Arrivals {
  /** What each machine has brought and not reported. */
  readonly unreported: UnreportedBytes;
  readonly #folder: string;
  #partCount = 0;
  /** Paths of outputs whose bytes were not those that were announced; forgotten with the process. */
  readonly #mismatched = new Set<string>();
  readonly #recent = new LRUCache<string, Uint8Array>({
    maxSize: recentBytesMax,
    sizeCalculation: (bytes) => bytes.length + 1,
  });

  /** Names of files of replicas that were there when the folder was opened, until the replica has ended. */
  readonly #found: Map<ReplicaId, string[]>;

  private constructor(folder: string, found: Map<ReplicaId, string[]>, unreported: UnreportedBytes) {
    this.unreported = unreported;
    this.#folder = folder;
    this.#found = found;
  }

  /**
   * Opens the folder, makes it where it is missing, and removes what a killed broker was writing, and what was left
   * there longer than `ageMax` ago.
   */
  static async open(
    folder: string,
    options: { readonly now: Instant; readonly ageMax: Duration; readonly unreported?: UnreportedBytes },
  ): Promise<Arrivals> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const found = new Map<ReplicaId, string[]>();
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const { mtimeMs } = await stat(path);
      const ageMax = name.startsWith(begunPrefix) ? begunAgeMax : options.ageMax;
      if (name.startsWith(partPrefix) || mtimeMs < options.now - ageMax) await rm(path, { force: true });
      else noteReplica(found, name);
    }
    return new Arrivals(folder, found, options.unreported ?? new UnreportedBytes());
  }

  /** Where all of them are; machines that share our file system leave theirs here too. */
  get folder(): string {
    return this.#folder;
  }

  /**
   * Keeps an output that a machine left here itself. Doing it again is harmless.
   *
   * @throws {MutiraoError} MUT_CONTENT_NOT_FOUND, MUT_CONTENT_MISMATCH, MUT_PATH_ESCAPES
   */
  async keepDropped(origin: Origin, output: OutputContent, name: string): Promise<void> {
    if (!droppedPattern.test(name))
      throw new MutiraoError(
        'MUT_PATH_ESCAPES',
        `${JSON.stringify(name)} is not the name of a file that was left here`,
      );
    const source = join(this.#folder, name);
    const target = this.getPath(origin, output);
    const status = await lstat(source).catch(() => undefined);
    if (status === undefined && (await lstat(target).catch(() => undefined)) !== undefined) return;
    if (status?.isFile() !== true)
      throw new MutiraoError(
        'MUT_CONTENT_NOT_FOUND',
        `${source}, which a machine that shares our file system left, is not there`,
      );
    const found = await hashRegular(source);
    if (found.sha256 !== output.content.sha256) {
      await rm(source, { force: true });
      this.noteMismatch(target);
      throw new MutiraoError(
        'MUT_CONTENT_MISMATCH',
        `${source} has hash ${found.sha256}; expected ${output.content.sha256}`,
      );
    }
    await rename(source, target);
    // The name may have been given to another file since.
    if ((await lstat(target)).ino === status.ino) return;
    await rm(target, { force: true });
    throw new MutiraoError('MUT_CONTENT_MISMATCH', `${source} was replaced by another file while it was taken`);
  }

  /** Where an output is, or will be, kept. */
  getPath(origin: Origin, output: OutputContent): string {
    if (output.transferId !== '')
      return this.pathOfTransfer(origin.machineId, output.transferId, output.content.sha256);
    // No machine may replace what another one brings under the same number.
    return join(
      this.#folder,
      `r${origin.replicaId}-${output.outputIndex}-${shortHash(`${origin.machineId}\n${output.path}`)}`,
    );
  }

  /** Where the content of a transfer is kept. */
  pathOfTransfer(machineId: MachineId, transferId: string, sha256: string): string {
    return join(this.#folder, `t${shortHash(`${machineId}\n${transferId}\n${sha256}`)}`);
  }

  /** Where the beginning of a content is kept that a machine pushes, until all of it has come. */
  findBeginning(machineId: MachineId, { sha256, size }: Content): string {
    return join(this.#folder, `${begunPrefix}${shortHash(`${machineId}\n${sha256}\n${size}`)}`);
  }

  /** A path of its own for a file that is being written; `rename` it when it is whole. */
  newPart(): string {
    this.#partCount += 1;
    return join(this.#folder, `${partPrefix}${process.pid}-${this.#partCount}`);
  }

  /** Remembers that an output came with other bytes than its machine announced. */
  noteMismatch(path: string): void {
    this.#mismatched.add(path);
  }

  /** Why an output is not here, as far as this process knows: it came with other bytes, or did not come. */
  explainMissing(origin: Origin, output: OutputContent, name: string): MutiraoError {
    if (!this.#mismatched.has(this.getPath(origin, output)))
      return new MutiraoError('MUT_CONTENT_NOT_FOUND', `${name} is not here`);
    return new MutiraoError('MUT_CONTENT_MISMATCH', `${name} came with other bytes than ${origin.machineId} announced`);
  }

  /** Keeps the bytes of a small output. @throws {MutiraoError} MUT_DISK_FULL; nothing is kept then. */
  async keepBytes(origin: Origin, output: OutputContent, bytes: Uint8Array): Promise<void> {
    const part = this.newPart();
    try {
      await writeFile(part, bytes, { mode: 0o600 });
      const path = this.getPath(origin, output);
      await rename(part, path);
      // A copy: the message that brought them may be far larger, and is not kept for their sake.
      this.#recent.set(path, new Uint8Array(bytes));
    } catch (error) {
      await rm(part, { force: true });
      throw fileError(error, part);
    }
  }

  /** The bytes of a small output that came lately; undefined where only its file has them. */
  getBytes(path: string): Uint8Array | undefined {
    return this.#recent.get(path);
  }

  /** Whether there are files of a replica of which nothing may be known that it brought. */
  hasFound(replicaId: ReplicaId): boolean {
    return this.#found.has(replicaId);
  }

  /** An output was brought home: its bytes are not needed any more. */
  forget(path: string): void {
    this.unreported.release(path);
    this.#recent.delete(path);
  }

  /**
   * Removes the outputs of a replica that was not accepted, those too that came with a report of it which a killed
   * broker had not written down.
   */
  async discard(origin: Origin, outputs: readonly OutputContent[]): Promise<void> {
    for (const name of this.#found.get(origin.replicaId) ?? []) await rm(join(this.#folder, name), { force: true });
    this.#found.delete(origin.replicaId);
    for (const output of outputs) {
      const path = this.getPath(origin, output);
      this.#mismatched.delete(path);
      this.unreported.release(path);
      this.#recent.delete(path);
      await rm(path, { force: true });
    }
  }
}

function noteReplica(found: Map<ReplicaId, string[]>, name: string): void {
  const [, id] = /^r(\d+)-\d+-[0-9a-f]{32}$/.exec(name) ?? [];
  if (id === undefined) return;
  const names = found.get(Number(id)) ?? [];
  found.set(Number(id), names);
  names.push(name);
}

function shortHash(text: string): string {
  // As bytes: names that are not UTF-8 would be one otherwise.
  return createHash('sha256').update(bytesOfName(text)).digest('hex').slice(0, 32);
}
