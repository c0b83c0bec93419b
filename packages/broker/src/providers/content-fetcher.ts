import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, type FileHandle } from 'node:fs/promises';

import { LRUCache } from 'lru-cache';

import type { PushedContent } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { serverLimits, transferBytesPerSecond } from '@mutirao/api/limits';
import type { Content } from '@mutirao/core/messages';
import type { Bytes, Duration, MachineId } from '@mutirao/core/shared';
import { steadyClock, type Clock, type Timers } from '@mutirao/runtime/driver';
import { isFullDisk } from '@mutirao/runtime/files';

import type { Arrivals } from '../results/arrivals.ts';
import type { BegunOutputs } from '../results/begun-outputs.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import type { PushedOutputs } from './report-outputs.ts';

/** What fetching contents needs. */
export interface ContentFetcherOptions {
  readonly arrivals: Arrivals;
  /** What transfers that broke have left. */
  readonly begun: BegunOutputs;
  /** Resolves when there is space for this many bytes. */
  whenRoom(bytes: Bytes): Promise<void>;
  /** The bytes of a transfer from an offset on, in order. @param signal ends it. */
  receive(transferId: string, offset: Bytes, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Reports to the machine why a transfer is not taken. */
  refuse(transferId: string, reason: string): Promise<void>;
  /** Whether the other side can leave out what is here already. */
  takesOffsets(): boolean;
  pause(delay: Duration): Promise<void>;
  /** Whether there is anybody to fetch from. */
  isConnected(): boolean;
  readonly timers: Timers;
  /** Measures what is waited; that of this process when left out. */
  readonly clock?: Clock;
  /** Transfers at a time; where it is more than one, a machine leaves a place to the others. */
  readonly concurrencyMax: number;
  onBytes(count: number): void;
  onTrouble(error: unknown): void;
}

const attemptsMax = 5;
const retryPause: Duration = 1_000;

/** A transfer that stalls for this time gives its place to others. Its agent may begin late, but not never. */
const stallMax: Duration = serverLimits.transferWait.max;

/** Writes of one transfer that are under way at a time. */
const writesMax = 4;

/** Transfers that are remembered after they were fetched: a repeated announcement of one needs no second fetch. */
const fetchedMax = 10_000;

/** A transfer that is being fetched. */
interface Fetching {
  /**
   * What was announced while an earlier announcement of the same transfer is being fetched; it is fetched if that
   * fails.
   */
  next: PushedContent | undefined;
  /** Resolves when nothing is left to fetch. */
  readonly done: Promise<void>;
}

/**
 * Fetches the contents that agents push, and keeps those whose hash is right.
 *
 * Idempotent: however often and whenever a transfer is announced, it is fetched until it is here, and never again after
 * that. The provider forgets an output as soon as it was fetched, so that a second fetch could only fail.
 */
export class ContentFetcher implements PushedOutputs {
  readonly #options: ContentFetcherOptions;
  readonly #places: Semaphore;
  readonly #running = new Map<string, Fetching>();
  readonly #fetched = new LRUCache<string, true>({ max: fetchedMax });

  constructor(options: ContentFetcherOptions) {
    this.#options = options;
    this.#places = new Semaphore(options.concurrencyMax);
  }

  /** Begins to fetch a transfer that was announced. */
  fetch(machineId: MachineId, pushed: PushedContent): void {
    const key = getKey(machineId, pushed.transferId);
    if (this.#fetched.has(key)) return;
    const running = this.#running.get(key);
    if (running === undefined) this.#running.set(key, { next: undefined, done: this.#fetchAll(machineId, pushed) });
    else if (running.next?.isKept !== true) running.next = pushed;
  }

  async settled(machineId: MachineId, transferId: string): Promise<void> {
    await this.#running.get(getKey(machineId, transferId))?.done;
  }

  /** Fetches what was announced, and if that fails, what was announced meanwhile. Never rejects. */
  async #fetchAll(machineId: MachineId, first: PushedContent): Promise<void> {
    const key = getKey(machineId, first.transferId);
    for (let pushed: PushedContent | undefined = first; pushed !== undefined; pushed = this.#takeNext(key)) {
      const announced = pushed;
      try {
        await this.#places.run(() => this.#receiveOrRetry(machineId, announced), machineId);
        this.#fetched.set(key, true);
        break;
      } catch (error) {
        this.#options.onTrouble(error);
      }
    }
    this.#running.delete(key);
  }

  #takeNext(key: string): PushedContent | undefined {
    const running = this.#running.get(key);
    const next = running?.next;
    if (running !== undefined) running.next = undefined;
    return next;
  }

  /** What is kept stays where it is until its report is acknowledged, so a transfer that broke is begun again. */
  async #receiveOrRetry(machineId: MachineId, { transferId, content, isKept }: PushedContent): Promise<void> {
    const { pause, isConnected, begun } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const before = begun.getSize(machineId, content);
      try {
        await this.#receive(machineId, transferId, content);
        return;
      } catch (error) {
        if (begun.getSize(machineId, content) > before) attempt = 1;
        if (!isKept || isFinal(error) || attempt === attemptsMax || !isConnected()) throw error;
        await pause(retryPause * attempt);
      }
    }
  }

  async #receive(machineId: MachineId, transferId: string, content: Content): Promise<void> {
    const {
      arrivals,
      arrivals: { unreported },
      begun,
      whenRoom,
      takesOffsets,
    } = this.#options;
    // The bytes can be asked for once only; until then they stay where they are.
    await whenRoom(content.size);
    const place = arrivals.pathOfTransfer(machineId, transferId, content.sha256);
    await this.#requireQuota(machineId, transferId, { place, size: content.size });
    const output = begun.take(machineId, content);
    unreported.release(output.path);
    const offset = takesOffsets() ? output.offset : 0;
    const stored = { bytes: offset };
    try {
      await this.#write({ transferId, content, path: output.path }, offset, stored);
      await rename(output.path, place);
      stored.bytes = 0;
      unreported.keep(machineId, place, content.size);
    } catch (error) {
      // The next transfer cannot use bytes that are wrong or did not fit on the disk.
      unreported.release(place);
      if (isMismatch(error) || isFullDisk(error)) stored.bytes = 0;
      if (isMismatch(error) && offset > 0)
        throw new MutiraoError(
          'MUT_TRANSFER_FAILED',
          `transfer ${transferId} did not go on where an earlier one broke`,
          { cause: error },
        );
      if (isMismatch(error)) arrivals.noteMismatch(place);
      throw error;
    } finally {
      output.leave(stored.bytes);
      if (stored.bytes > 0) unreported.keep(machineId, output.path, stored.bytes);
    }
  }

  /** @throws {MutiraoError} MUT_MACHINE_QUOTA, which the machine has received too. */
  async #requireQuota(
    machineId: MachineId,
    transferId: string,
    { place, size }: { readonly place: string; readonly size: Bytes },
  ): Promise<void> {
    try {
      this.#options.arrivals.unreported.begin(machineId, place, size);
    } catch (error) {
      if (error instanceof MutiraoError)
        await this.#options.refuse(transferId, error.message).catch(this.#options.onTrouble);
      throw error;
    }
  }

  async #write({ transferId, content, path }: Destination, offset: Bytes, stored: { bytes: Bytes }): Promise<void> {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      const hash = createHash('sha256');
      await file.truncate(offset);
      await hashBeginning(file, offset, hash);
      const size = await this.#copy(
        this.#receiveMoving(transferId, offset),
        { file, hash, bytesMax: content.size },
        stored,
      );
      const found = hash.digest('hex');
      if (size !== content.size || found !== content.sha256) {
        throw new MutiraoError(
          'MUT_CONTENT_MISMATCH',
          `transfer ${transferId} brought ${size} bytes with hash ${found}; expected ${content.size} with ` +
            `${content.sha256}`,
        );
      }
    } finally {
      await file.close();
    }
  }

  /**
   * What has been waited for the other side is regained with each byte, so that one that sends a few now and then does
   * not go on for ever. @throws {MutiraoError} MUT_TRANSFER_FAILED when too little comes.
   */
  async *#receiveMoving(transferId: string, offset: Bytes): AsyncGenerator<Uint8Array> {
    const { timers, receive, clock = steadyClock } = this.#options;
    const stall = new AbortController();
    const startTimer = (delay: Duration): unknown =>
      timers.start(delay, () => {
        stall.abort();
      });
    let left = stallMax;
    let since = clock.now();
    let timer = startTimer(left);
    try {
      for await (const data of receive(transferId, offset, stall.signal)) {
        if (data.length === 0) continue;
        timers.cancel(timer);
        const waited = clock.now() - since;
        left = Math.min(stallMax, left - waited + (data.length / transferBytesPerSecond) * 1000);
        yield data;
        since = clock.now();
        timer = startTimer(Math.max(0, left));
      }
    } catch (error) {
      if (!stall.signal.aborted) throw error;
      throw new MutiraoError(
        'MUT_TRANSFER_FAILED',
        `transfer ${transferId} was waited for during ${stallMax} ms; expected at least ${transferBytesPerSecond} ` +
          'bytes/s',
        { cause: error },
      );
    } finally {
      timers.cancel(timer);
    }
  }

  /**
   * A few chunks in memory at a time: while they are written, the next ones come.
   *
   * @param stored counts the bytes on the disk without a gap at the end, also of a stream that broke.
   */
  async #copy(
    source: AsyncIterable<Uint8Array>,
    { file, hash, bytesMax }: Writing,
    stored: { bytes: Bytes },
  ): Promise<Bytes> {
    const writes: Promise<void>[] = [];
    let size = stored.bytes;
    try {
      for await (const data of source) {
        size += data.length;
        if (size > bytesMax) break;
        writes.push(writeAt(file, data, size - data.length));
        hash.update(data);
        this.#options.onBytes(data.length);
        if (writes.length < writesMax) continue;
        await writes[0];
        void writes.shift();
      }
      await Promise.all(writes);
      return size;
    } finally {
      // A write that failed has failed the loop, or fails here.
      stored.bytes = (await Promise.allSettled(writes)).every(({ status }) => status === 'fulfilled') ? size : 0;
    }
  }
}

interface Destination {
  readonly transferId: string;
  readonly content: Content;
  readonly path: string;
}

interface Writing {
  readonly file: FileHandle;
  readonly hash: Hash;
  readonly bytesMax: Bytes;
}

async function hashBeginning(file: FileHandle, bytes: Bytes, hash: Hash): Promise<void> {
  const chunk = Buffer.allocUnsafe(Math.min(bytes, 512 * 1024));
  for (let position = 0; position < bytes; ) {
    const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, bytes - position), position);
    if (bytesRead === 0)
      throw new MutiraoError(
        'MUT_TRANSFER_FAILED',
        `the beginning of an output has ${position} bytes; expected ${bytes}`,
      );
    hash.update(chunk.subarray(0, bytesRead));
    position += bytesRead;
  }
}

function getKey(machineId: MachineId, transferId: string): string {
  return `${machineId}\n${transferId}`;
}

/** Whether another try would fail for the same reason. */
function isFinal(error: unknown): boolean {
  return isMismatch(error) || (error instanceof MutiraoError && error.code === 'MUT_CONTENT_NOT_FOUND');
}

function isMismatch(error: unknown): boolean {
  return error instanceof MutiraoError && error.code === 'MUT_CONTENT_MISMATCH';
}

function writeAt(file: FileHandle, data: Uint8Array, position: number): Promise<void> {
  const written = writeWhole(file, data, position);
  // The later caller that awaits it gets the failure; until then it must not count as unhandled.
  written.catch(() => undefined);
  return written;
}

async function writeWhole(file: FileHandle, data: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < data.length; ) {
    const { bytesWritten } = await file.write(data, done, data.length - done, position + done);
    done += bytesWritten;
  }
}
