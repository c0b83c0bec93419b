import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { Duration, UserId } from '@mutirao/core/shared';
import type { ResourceManager } from '@mutirao/managers';
import type { Clock, Timers } from '@mutirao/runtime/driver';
import type { Logger } from '@mutirao/runtime/log';
import { asMutiraoError } from './submitter.ts';

/** What a watcher needs. */
export interface QueueWatcherOptions {
  readonly manager: ResourceManager;
  readonly userId: UserId;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  /** Time between two readings when nothing hints at a change. */
  readonly interval: Duration;
  /** Ended requests that a listing shows, so that an end is not missed between two readings. */
  readonly endedMax: number;
  /** In [0, 1); spreads readings. */
  random(): number;
  deliver(input: ProviderInput): void;
}

/** The limits are static in most managers; they are read again once per this number of readings of the queue. */
const readingsPerLimits = 200;

/** Reads the queue of a resource again and again: on its own clock, and soon after each hint. One reading at a time. */
export class QueueWatcher {
  readonly #options: QueueWatcherOptions;
  readonly #stopped = new AbortController();
  #isReading = false;
  #isHinted = false;
  #timer: unknown;
  #readingsToLimits = 0;
  #trouble = '';

  constructor(options: QueueWatcherOptions) {
    this.#options = options;
  }

  /** Why the last reading failed; empty when it went well. */
  get trouble(): string {
    return this.#trouble;
  }

  /** Begins; the first reading begins at once. */
  start(): void {
    this.#options.manager.watch(() => {
      this.hint();
    }, this.#stopped.signal);
    this.hint();
  }

  /** Reads the queue as soon as no reading is under way. */
  hint(): void {
    if (this.#isReading) this.#isHinted = true;
    else void this.#read();
  }

  /** Ends; what a reading under way brings is dropped. */
  stop(): void {
    this.#stopped.abort();
    this.#options.timers.cancel(this.#timer);
  }

  async #read(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    this.#isReading = true;
    this.#isHinted = false;
    this.#options.timers.cancel(this.#timer);
    const inputs = await this.#readOnce();
    this.#isReading = false;
    if (this.#stopped.signal.aborted) return;
    for (const input of inputs) this.#options.deliver(input);
    if (this.#isHinted) {
      void this.#read();
      return;
    }
    const { timers, interval, random } = this.#options;
    this.#timer = timers.start(interval * (0.8 + 0.4 * random()), () => {
      this.hint();
    });
  }

  async #readOnce(): Promise<ProviderInput[]> {
    const { manager, clock, endedMax } = this.#options;
    try {
      const limits = await this.#readLimits();
      const readAt = clock.now();
      const listing = await manager.queue(endedMax, this.#options.userId);
      if (this.#trouble !== '') this.#options.log.info({}, 'reading the queue again');
      this.#trouble = '';
      return [...limits, { kind: 'QueueListed', listing, readAt }];
    } catch (error) {
      const { code, message } = asMutiraoError(error);
      if (this.#trouble === '') this.#options.log.warn({ code, reason: message }, 'cannot read the queue');
      this.#trouble = `${code}, ${message}`;
      return [{ kind: 'QueueReadFailed', reason: this.#trouble }];
    }
  }

  async #readLimits(): Promise<ProviderInput[]> {
    if (this.#readingsToLimits > 0 && this.#options.manager.hasNewLimits !== true) {
      this.#readingsToLimits -= 1;
      return [];
    }
    const limits = await this.#options.manager.limits(this.#options.userId);
    this.#readingsToLimits = readingsPerLimits;
    return [{ kind: 'LimitsRead', limits }];
  }
}
