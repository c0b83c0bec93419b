import { createHash } from 'node:crypto';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';

import { MutiraoError } from '@mutirao/api/errors';
import type { Content } from '@mutirao/core/messages';
import type { Bytes, Duration, MachineId } from '@mutirao/core/shared';

import type { Arrivals } from '../results/arrivals.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import type { PushedOutputs } from './report-outputs.ts';

/** What fetching contents needs. */
export interface ContentFetcherOptions {
  readonly arrivals: Arrivals;
  /** Resolves when there is room for so many bytes. */
  whenRoom(bytes: Bytes): Promise<void>;
  /** The bytes of a transfer, in order. */
  receive(transferId: string): AsyncIterable<Uint8Array>;
  pause(delay: Duration): Promise<void>;
  /** Whether there is anybody to fetch from. */
  isConnected(): boolean;
  /** Transfers at a time. */
  readonly concurrencyMax: number;
  onBytes(count: number): void;
  onTrouble(error: unknown): void;
}

/** A content that a machine has pushed, or pushes. */
export interface PushedContent {
  readonly transferId: string;
  readonly content: Content;
  /** The provider has it on its disk, and can be asked again. */
  readonly isKept: boolean;
}

const attemptsMax = 5;
const retryPause: Duration = 1_000;

/** Writes of one transfer that are under way at a time. */
const writesMax = 4;

/** Fetches the contents that agents push, and keeps those whose hash is right. */
export class ContentFetcher implements PushedOutputs {
  readonly #options: ContentFetcherOptions;
  readonly #places: Semaphore;
  readonly #running = new Map<string, Promise<void>>();

  constructor(options: ContentFetcherOptions) {
    this.#options = options;
    this.#places = new Semaphore(options.concurrencyMax);
  }

  /** Begins to fetch a transfer. */
  fetch(machineId: MachineId, pushed: PushedContent): void {
    const key = `${machineId}\n${pushed.transferId}`;
    const fetching = this.#places.run(() => this.#receiveOrRetry(machineId, pushed))
      .catch((error: unknown) => { this.#options.onTrouble(error); })
      .finally(() => {
        if (this.#running.get(key) === fetching) this.#running.delete(key);
      });
    this.#running.set(key, fetching);
  }

  async settled(machineId: MachineId, transferId: string): Promise<void> {
    await this.#running.get(`${machineId}\n${transferId}`);
  }

  /** What is kept stays where it is until its report is acknowledged, so a transfer that broke is begun again. */
  async #receiveOrRetry(machineId: MachineId, { transferId, content, isKept }: PushedContent): Promise<void> {
    const { pause, isConnected } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#receive(machineId, transferId, content);
        return;
      } catch (error) {
        const isWrong = error instanceof MutiraoError && error.code === 'MUT_CONTENT_MISMATCH';
        if (!isKept || isWrong || attempt === attemptsMax || !isConnected()) throw error;
        await pause(retryPause * attempt);
      }
    }
  }

  async #receive(machineId: MachineId, transferId: string, content: Content): Promise<void> {
    const { arrivals, whenRoom } = this.#options;
    // The bytes can be asked for once only; until then they stay where they are.
    await whenRoom(content.size);
    const part = arrivals.newPart();
    try {
      const file = await open(part, 'wx', 0o600);
      try {
        await this.#copy(transferId, content, file);
      } finally {
        await file.close();
      }
      await rename(part, arrivals.pathOfTransfer(machineId, transferId, content.sha256));
    } catch (error) {
      await rm(part, { force: true });
      const isMismatch = error instanceof MutiraoError && error.code === 'MUT_CONTENT_MISMATCH';
      if (isMismatch) arrivals.noteMismatch(arrivals.pathOfTransfer(machineId, transferId, content.sha256));
      throw error;
    }
  }

  /** A few chunks in memory at a time: while they are written, the next ones come. */
  async #copy(transferId: string, content: Content, file: FileHandle): Promise<void> {
    const hash = createHash('sha256');
    const writes: Promise<void>[] = [];
    let size = 0;
    for await (const data of this.#options.receive(transferId)) {
      if (size + data.length > content.size) {
        size += data.length;
        break;
      }
      writes.push(writeAt(file, data, size));
      size += data.length;
      hash.update(data);
      this.#options.onBytes(data.length);
      if (writes.length >= writesMax) await writes.shift();
    }
    await Promise.all(writes);
    const found = hash.digest('hex');
    if (size !== content.size || found !== content.sha256) {
      throw new MutiraoError('MUT_CONTENT_MISMATCH', `transfer ${transferId} brought ${size} bytes with hash ${found}; want ${content.size} with ${content.sha256}`);
    }
  }
}

function writeAt(file: FileHandle, data: Uint8Array, position: number): Promise<void> {
  const written = writeWhole(file, data, position);
  // Whoever awaits it later hears of a failure; until then it is nobody's.
  written.catch(() => undefined);
  return written;
}

async function writeWhole(file: FileHandle, data: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < data.length;) {
    const { bytesWritten } = await file.write(data, done, data.length - done, position + done);
    done += bytesWritten;
  }
}
