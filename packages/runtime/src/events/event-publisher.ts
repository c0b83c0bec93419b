import type { Duration } from '@mutirao/core/shared';

import { Backoff, type Timers } from '../driver/index.ts';
import type { EventBacklog } from './backlog.ts';
import type { ConnectEvents, EventConnection } from './connection.ts';
import { countKept, nextWindow, windowMax } from './window.ts';

/** Receives the number of published events. */
export interface EventCounts {
  published(count: number): void;
}

/** What a publisher works with. */
export interface EventPublisherOptions {
  readonly backlog: Pick<EventBacklog<unknown>, 'publishedUpTo' | 'lag' | 'next' | 'settle'>;
  readonly connect: ConnectEvents;
  readonly counts: EventCounts;
  readonly timers: Timers;
  /** A number in [0, 1). */
  random(): number;
  /** Keeps how far all is published, for the next start. */
  keepPlace(sequence: number): void;
  /** Called with the reason when an outage starts, and with undefined when it ends. */
  onTrouble(error: unknown): void;
}

const backoffRules = { first: 100, longest: 15_000 };
/** Changes after which the position is saved although more are waiting. */
const placeStride = 256;
/** Time without news after which the position is saved. */
const idleDelay = 500;
/** How long news gather before they are sent, so that the turns of a busy process share a row. */
const gatherDelay = 5;

/**
 * Publishes the journal: each event at least once, those of a job in their order.
 *
 * A row of messages is sent at once. Each but the first requires that the one before it is the last in the stream: if
 * one is lost, none after it is stored, and the row continues from there. Nothing waits for a publisher; messages that
 * cannot be sent stay in the journal.
 */
export class EventPublisher {
  readonly #options: EventPublisherOptions;
  readonly #backoff: Backoff;
  #connection: EventConnection | undefined;
  #window = windowMax;
  #placeKept: number;
  #hasNews = true;
  #isStopping = false;
  /** From then on nothing is read or published. */
  #isOver = false;
  #isTroubled = false;
  #wake: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(options: EventPublisherOptions) {
    this.#options = options;
    this.#backoff = new Backoff({ ...backoffRules, random: options.random });
    this.#placeKept = options.backlog.publishedUpTo;
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** Changes that are not published yet. */
  get lag(): number {
    return this.#options.backlog.lag;
  }

  /** Begins, and goes on until it is stopped. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** There is something new in the journal. Costs next to nothing. */
  notify(): void {
    this.#hasNews = true;
    this.#wake?.();
  }

  /**
   * Publishes the waiting messages for at most `grace`, if there is a connection, saves the position and ends. The next
   * start publishes the rest.
   */
  async stop(grace: Duration): Promise<void> {
    this.#isStopping = true;
    this.#wake?.();
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const timer = this.#options.timers.start(grace, resolve);
    await Promise.race([this.#running, isLate]);
    this.#options.timers.cancel(timer);
    this.#isOver = true;
    await this.#connection?.close();
    this.#keepPlace();
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      try {
        await this.#publishOver(await this.#options.connect());
      } catch (error) {
        if (!this.#isTroubled && !this.#isOver) this.#options.onTrouble(error);
        this.#isTroubled = true;
      }
      if (!this.#isStopping) await this.#rest(this.#backoff.next());
    }
  }

  /** Publishes over one connection until that is gone or the publisher is stopped. */
  async #publishOver(connection: EventConnection): Promise<void> {
    const loss: { isLost: boolean; error: Error | undefined } = { isLost: false, error: undefined };
    void connection.closed.then((error) => {
      Object.assign(loss, { isLost: true, error });
      this.#wake?.();
    });
    this.#connection = connection;
    try {
      while (!loss.isLost && !this.#isOver) {
        this.#hasNews = false;
        if (await this.#publishRow(connection)) continue;
        if (this.#isStopping) return;
        await this.#awaitNews(() => loss.isLost);
      }
      throw loss.error ?? new Error('the connection was closed');
    } finally {
      this.#connection = undefined;
      await connection.close();
    }
  }

  /** Sends one row and waits for its disposition. Whether there was any. @throws what kept a message from being kept. */
  async #publishRow(connection: EventConnection): Promise<boolean> {
    const { backlog, counts } = this.#options;
    const row = backlog.next(this.#window);
    if (row.length === 0) return false;
    const dispositions = await Promise.allSettled(
      row.map((message, index) => connection.publish(message, row[index - 1]?.messageId)),
    );
    if (this.#isOver) return false;
    const kept = countKept(dispositions);
    backlog.settle(kept);
    counts.published(kept);
    this.#window = nextWindow(this.#window, { sent: row.length, kept });
    if (backlog.publishedUpTo - this.#placeKept >= placeStride) this.#keepPlace();
    if (kept > 0) this.#settleDown();
    const failed = dispositions[kept];
    if (failed?.status === 'rejected') throw failed.reason;
    if (failed !== undefined && kept === 0)
      throw new Error('the stream refused a message that asked for nothing before it');
    return true;
  }

  /** Events go through: an outage, if there was one, is over. */
  #settleDown(): void {
    this.#backoff.reset();
    if (this.#isTroubled) this.#options.onTrouble(undefined);
    this.#isTroubled = false;
  }

  async #awaitNews(isLost: () => boolean): Promise<void> {
    const isOver = (): boolean => this.#hasNews || this.#isStopping || isLost();
    while (!isOver()) {
      const isIdle = this.#placeKept !== this.#options.backlog.publishedUpTo;
      await this.#pause(isIdle ? idleDelay : undefined, isOver);
      if (!isOver()) this.#keepPlace();
    }
    if (this.#hasNews && !this.#isStopping && !isLost())
      await this.#pause(gatherDelay, () => this.#isStopping || isLost());
  }

  #rest(delay: Duration): Promise<void> {
    return this.#pause(delay, () => this.#isStopping);
  }

  /** Resolves after a delay (undefined: never), or as soon as something happens that makes `isOver` true. */
  async #pause(delay: Duration | undefined, isOver: () => boolean): Promise<void> {
    if (isOver()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = delay === undefined ? undefined : this.#options.timers.start(delay, resolve);
    this.#wake = () => {
      if (isOver()) resolve();
    };
    await promise;
    this.#wake = undefined;
    if (timer !== undefined) this.#options.timers.cancel(timer);
  }

  #keepPlace(): void {
    const { backlog, keepPlace } = this.#options;
    if (backlog.publishedUpTo === this.#placeKept) return;
    keepPlace(backlog.publishedUpTo);
    this.#placeKept = backlog.publishedUpTo;
  }
}
