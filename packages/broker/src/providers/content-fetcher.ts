import { createHash } from 'node:crypto';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';

import { MutiraoError } from '@mutirao/api/errors';
import type { Content } from '@mutirao/core/messages';
import type { MachineId } from '@mutirao/core/shared';

import type { Arrivals } from '../results/arrivals.ts';
import { Semaphore } from '../work/semaphore.ts';
import type { PushedOutputs } from './report-outputs.ts';

/** What fetching contents needs. */
export interface ContentFetcherOptions {
  readonly arrivals: Arrivals;
  /** The bytes of a transfer, in order. */
  receive(transferId: string): AsyncIterable<Uint8Array>;
  /** Transfers at a time. */
  readonly concurrencyMax: number;
  onBytes(count: number): void;
  onTrouble(error: unknown): void;
}

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
  fetch(machineId: MachineId, transferId: string, content: Content): void {
    const key = `${machineId}\n${transferId}`;
    const fetching = this.#places.run(() => this.#receive(machineId, transferId, content))
      .catch((error: unknown) => { this.#options.onTrouble(error); })
      .finally(() => {
        if (this.#running.get(key) === fetching) this.#running.delete(key);
      });
    this.#running.set(key, fetching);
  }

  async settled(machineId: MachineId, transferId: string): Promise<void> {
    await this.#running.get(`${machineId}\n${transferId}`);
  }

  async #receive(machineId: MachineId, transferId: string, content: Content): Promise<void> {
    const { arrivals } = this.#options;
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
      throw error;
    }
  }

  /** One chunk in memory at a time: the next one is asked for when this one is in the file. */
  async #copy(transferId: string, content: Content, file: FileHandle): Promise<void> {
    const hash = createHash('sha256');
    let size = 0;
    for await (const data of this.#options.receive(transferId)) {
      size += data.length;
      if (size > content.size) break;
      hash.update(data);
      await file.writeFile(data);
      this.#options.onBytes(data.length);
    }
    const found = hash.digest('hex');
    if (size !== content.size || found !== content.sha256) {
      throw new MutiraoError('MUT_CONTENT_MISMATCH', `transfer ${transferId} brought ${size} bytes with hash ${found}; want ${content.size} with ${content.sha256}`);
    }
  }
}
