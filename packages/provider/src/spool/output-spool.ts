import { readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { chunkHeadroom, frameChunk } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { BrokerId } from '@mutirao/core/machines/provider';
import type { Content } from '@mutirao/core/messages';
import { describeBytes, type Bytes, type Duration, type MachineId } from '@mutirao/core/shared';
import type { Clock } from '@mutirao/runtime/driver';
import { ContentStore } from '@mutirao/runtime/files';
import type { Logger } from '@mutirao/runtime/log';

/** An output that waits for its broker. */
export interface SpooledOutput {
  /** Under which its machine pushed it. */
  readonly transferId: string;
  /** The only one that it is for. */
  readonly brokerId: BrokerId;
  readonly machineId: MachineId;
  readonly content: Content;
}

/** What a spool needs. */
export interface OutputSpoolOptions {
  /** Its own; nothing else lies there. */
  readonly folder: string;
  /** Holds the table of what is spooled; the provider's journal. */
  readonly database: DatabaseSync;
  /** Most that is kept. */
  readonly bytesMax: Bytes;
  /** Room that is left free on the disk, for the journal. */
  readonly reserveBytes: Bytes;
  /** Free bytes of the disk. @throws if that is unknown; then the write is tried. */
  freeBytes(folder: string): Bytes;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Row {
  readonly transfer_id: string;
  readonly broker_id: string;
  readonly machine_id: string;
  readonly sha256: string;
  readonly size: number;
}

const schema = `CREATE TABLE IF NOT EXISTS spooled_outputs (
  transfer_id TEXT PRIMARY KEY, broker_id TEXT NOT NULL, machine_id TEXT NOT NULL, sha256 TEXT NOT NULL, size INTEGER NOT NULL, at INTEGER NOT NULL
) STRICT`;

/** Outputs of this age that nobody fetched are removed at a start. */
const ageMax: Duration = 30 * 24 * 3_600_000;
const chunkBytes = 256 * 1024;
/** Chunks that one reader goes round; a stream takes 16 messages before it asks to wait. */
const buffersCount = 20;
/** Number of the data field in ReceiveContentResponse. */
const dataField = 1;

/**
 * Outputs that machines push while their broker is away: on disk, checked against their hashes, until the broker has
 * acknowledged the reports that name them.
 *
 * Bounded: an output that has no room is refused, and its machine keeps it and tries again.
 */
export class OutputSpool {
  readonly #options: OutputSpoolOptions;
  readonly #store: ContentStore;
  readonly #outputs = new Map<string, SpooledOutput>();
  /** How many outputs share a content. */
  readonly #uses = new Map<string, number>();
  /** How many outputs of a content are on their way in: its file may be there before they are entered. */
  readonly #arriving = new Map<string, number>();
  #bytes: Bytes = 0;
  /** Bytes of outputs that are on their way in. */
  #coming: Bytes = 0;
  readonly #comingOutputs = new Set<SpooledOutput>();
  /** What pushes that broke have left on the disk; gone with the process, and when others need the room. */
  readonly #parts = new Map<string, Bytes>();
  /** Contents that come now and are written on where a part ends. */
  readonly #taking = new Set<string>();
  #trouble = '';
  #refusedCount = 0;

  /** Reads the stored outputs; half-written ones are removed. */
  constructor(options: OutputSpoolOptions) {
    const { database, folder } = options;
    this.#options = options;
    this.#store = new ContentStore(folder, { isDurable: true });
    database.exec(schema);
    this.#takeUp();
  }

  /** Bytes that are kept. */
  get bytes(): Bytes {
    return this.#bytes;
  }

  /** Outputs that are kept. */
  get count(): number {
    return this.#outputs.size;
  }

  /** Outputs that had no room, since the start; each try counts. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  /** Why the last output found no room; empty when it did. */
  get trouble(): string {
    return this.#trouble;
  }

  /**
   * Stores what a machine pushes; resolves when it is safe on the disk. The part that a broken push brought stays for
   * the next one.
   *
   * @param begin receives, before the chunks are read, how many bytes of the content's beginning are here already. The
   * chunks leave these out; without `begin` they bring everything.
   * @throws {MutiraoError} MUT_SPOOL_FULL without space; MUT_CONTENT_MISMATCH, MUT_CONTENT_TOO_LARGE,
   * MUT_TRANSFER_FAILED;
   * what the stream throws.
   */
  async keep(output: SpooledOutput, chunks: AsyncIterable<Uint8Array>, begin?: (offset: Bytes) => void): Promise<void> {
    const { content } = output;
    this.#requireDiskSpace(output);
    this.#coming += content.size;
    this.#comingOutputs.add(output);
    this.#arriving.set(content.sha256, (this.#arriving.get(content.sha256) ?? 0) + 1);
    try {
      await this.#take(content, chunks, begin);
      this.#insert(output);
    } catch (error) {
      if (error instanceof MutiraoError && error.code === 'MUT_DISK_FULL')
        throw this.#refuse(output, 'the disk is full', error);
      throw error;
    } finally {
      this.#coming -= content.size;
      this.#comingOutputs.delete(output);
      this.#noteArrived(content.sha256);
    }
    this.#note('');
  }

  /** Of two of one content at a time the second goes its own way. */
  async #take(
    content: Content,
    chunks: AsyncIterable<Uint8Array>,
    begin: ((offset: Bytes) => void) | undefined,
  ): Promise<void> {
    const { sha256, size } = content;
    if (this.#taking.has(sha256)) {
      begin?.(0);
      await this.#store.putStream(chunks, { content });
      return;
    }
    const part = this.#store.partSize(sha256);
    const offset = begin === undefined || part > size ? 0 : part;
    this.#taking.add(sha256);
    this.#parts.delete(sha256);
    try {
      begin?.(offset);
      await this.#store.putRest(chunks, content, offset);
    } finally {
      this.#taking.delete(sha256);
      const left = this.#store.partSize(sha256);
      if (left > 0) this.#parts.set(sha256, left);
    }
  }

  /** What is kept under a name; undefined when nothing is. */
  find(transferId: string): SpooledOutput | undefined {
    return this.#outputs.get(transferId);
  }

  /** What a machine pushed for a broker, in the order in which it came. */
  list(machineId: MachineId, brokerId: BrokerId): SpooledOutput[] {
    return [...this.#outputs.values()].filter(
      (output) => output.machineId === machineId && output.brokerId === brokerId,
    );
  }

  /** What waits for a broker. */
  ofBroker(brokerId: BrokerId): SpooledOutput[] {
    return [...this.#outputs.values()].filter((output) => output.brokerId === brokerId);
  }

  /** Bytes that wait for one broker. */
  getBytes(brokerId: BrokerId): Bytes {
    return this.ofBroker(brokerId).reduce((bytes, { content }) => bytes + content.size, 0);
  }

  /** Bytes of some outputs, those included that are on their way in. Cost: O(outputs). */
  bytesWhere(isMeant: (output: SpooledOutput) => boolean): Bytes {
    let bytes = 0;
    for (const outputs of [this.#outputs.values(), this.#comingOutputs])
      for (const output of outputs) if (isMeant(output)) bytes += output.content.size;
    return bytes;
  }

  /** Bytes of the machine that has most. */
  get bytesOfMost(): Bytes {
    const sums = new Map<MachineId, Bytes>();
    for (const { machineId, content } of [...this.#outputs.values(), ...this.#comingOutputs])
      sums.set(machineId, (sums.get(machineId) ?? 0) + content.size);
    return Math.max(0, ...sums.values());
  }

  /** The messages that bring an output to its broker, from an offset on. */
  async *read({ content: { sha256 } }: SpooledOutput, offset: Bytes = 0): AsyncGenerator<Buffer> {
    await using file = await open(this.#store.path(sha256), 'r');
    const buffers = Array.from({ length: buffersCount }, () => Buffer.allocUnsafeSlow(chunkHeadroom + chunkBytes));
    for (let index = 0, position = offset; ; index = (index + 1) % buffersCount) {
      const buffer = buffers[index] ?? Buffer.alloc(0);
      const { bytesRead } = await file.read(buffer, chunkHeadroom, chunkBytes, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield frameChunk(buffer, bytesRead, dataField);
    }
  }

  /** Forgets outputs that are safe at their broker, or that nobody waits for. */
  remove(transferIds: Iterable<string>): void {
    for (const transferId of transferIds) {
      const output = this.#outputs.get(transferId);
      if (output === undefined) continue;
      this.#outputs.delete(transferId);
      this.#options.database.prepare('DELETE FROM spooled_outputs WHERE transfer_id = ?').run(transferId);
      this.#leave(output);
    }
  }

  #takeUp(): void {
    const { database, clock } = this.#options;
    database.prepare('DELETE FROM spooled_outputs WHERE at < ?').run(clock.now() - ageMax);
    const rows = database
      .prepare('SELECT transfer_id, broker_id, machine_id, sha256, size FROM spooled_outputs ORDER BY rowid')
      .all() as unknown as Row[];
    for (const { transfer_id: transferId, broker_id: brokerId, machine_id: machineId, sha256, size } of rows) {
      // Outputs announced as safe were safe. If somebody removed the file, its broker learns that when it asks.
      if (this.#store.size(sha256) === size)
        this.#enter({ transferId, brokerId, machineId, content: { sha256, size } });
      else database.prepare('DELETE FROM spooled_outputs WHERE transfer_id = ?').run(transferId);
    }
    this.#sweep();
  }

  /** A process that was killed between a content and its line in the table left the content. */
  #sweep(): void {
    const { folder } = this.#store;
    for (const name of readdirSync(folder, { recursive: true }) as string[]) {
      const sha256 = name.slice(3);
      if (/^[0-9a-f]{64}$/.test(sha256) && !this.#uses.has(sha256)) rmSync(join(folder, name), { force: true });
    }
  }

  #insert(output: SpooledOutput): void {
    const { database, clock } = this.#options;
    const {
      transferId,
      brokerId,
      machineId,
      content: { sha256, size },
    } = output;
    database
      .prepare('INSERT INTO spooled_outputs VALUES (?, ?, ?, ?, ?, ?)')
      .run(transferId, brokerId, machineId, sha256, size, clock.now());
    this.#enter(output);
  }

  #enter(output: SpooledOutput): void {
    const { sha256, size } = output.content;
    const uses = this.#uses.get(sha256) ?? 0;
    this.#outputs.set(output.transferId, output);
    this.#uses.set(sha256, uses + 1);
    if (uses === 0) this.#bytes += size;
  }

  #leave({ content: { sha256, size } }: SpooledOutput): void {
    const uses = (this.#uses.get(sha256) ?? 1) - 1;
    if (uses > 0) {
      this.#uses.set(sha256, uses);
      return;
    }
    this.#uses.delete(sha256);
    this.#bytes -= size;
    this.#removeUnused(sha256);
  }

  /** An output of a content has come, or did not. */
  #noteArrived(sha256: string): void {
    const count = (this.#arriving.get(sha256) ?? 1) - 1;
    if (count > 0) this.#arriving.set(sha256, count);
    else this.#arriving.delete(sha256);
    this.#removeUnused(sha256);
  }

  /** Removes a content that no output has. While another output of it arrives it stays: the file may be that one's. */
  #removeUnused(sha256: string): void {
    if (!this.#uses.has(sha256) && !this.#arriving.has(sha256)) rmSync(this.#store.path(sha256), { force: true });
  }

  #requireDiskSpace(output: SpooledOutput): void {
    const { bytesMax, reserveBytes } = this.#options;
    const {
      transferId,
      content: { size },
    } = output;
    if (transferId === '') throw new MutiraoError('MUT_BAD_REQUEST', 'transfer_id is empty');
    if (this.#outputs.has(transferId))
      throw new MutiraoError('MUT_TRANSFER_FAILED', `transfer ${transferId}: it was brought already`);
    const wanted = this.#bytes + this.#coming + size;
    if (wanted + this.#countParts(output.content) > bytesMax) this.#dropParts(output.content);
    if (wanted > bytesMax)
      throw this.#refuse(output, `${describeBytes(wanted)} would be kept; expected at most ${describeBytes(bytesMax)}`);
    const free = this.#freeBytes();
    if (free - this.#coming - size < reserveBytes)
      throw this.#refuse(
        output,
        `${describeBytes(free)} are left on the disk; ${describeBytes(reserveBytes)} must stay free`,
      );
  }

  #countParts({ sha256: except }: Content): Bytes {
    let bytes = 0;
    for (const [sha256, size] of this.#parts) bytes += sha256 === except ? 0 : size;
    return bytes;
  }

  #dropParts({ sha256: except }: Content): void {
    for (const sha256 of this.#parts.keys()) {
      if (sha256 === except) continue;
      this.#parts.delete(sha256);
      rmSync(this.#store.partPath(sha256), { force: true });
    }
  }

  #freeBytes(): Bytes {
    const { folder, freeBytes } = this.#options;
    try {
      return freeBytes(folder);
    } catch {
      return Number.POSITIVE_INFINITY; // Not every file system reports its free space; the write itself will.
    }
  }

  #refuse({ machineId, brokerId, content }: SpooledOutput, why: string, cause?: unknown): MutiraoError {
    this.#refusedCount += 1;
    this.#note(`an output of ${describeBytes(content.size)} waits at its machine: ${why}`);
    return new MutiraoError(
      'MUT_SPOOL_FULL',
      `no room for an output of ${machineId} while broker ${brokerId} is away: ${why}`,
      cause === undefined ? undefined : { cause },
    );
  }

  /** What is the same as before is not said again. */
  #note(trouble: string): void {
    if ((trouble === '') !== (this.#trouble === '')) {
      const { log } = this.#options;
      if (trouble === '') log.info({ bytes: this.#bytes }, 'the spool has room for outputs again');
      else
        log.warn({ reason: trouble, bytes: this.#bytes }, 'the spool is full; further outputs wait at their machines');
    }
    this.#trouble = trouble;
  }
}
