import { encodeReservationEvents, type EventMessage } from '@mutirao/api/events';
import { eventsOf, type ReservationsChange } from '@mutirao/core/machines/reservations';
import type { ChangeSignal } from '@mutirao/runtime/driver';
import type { ConnectEvents, EventConnection } from '@mutirao/runtime/events';
import type { Journal } from '@mutirao/runtime/journal';

/** What a publisher works with. */
export interface EventPublisherOptions {
  readonly journal: Pick<Journal<ReservationsChange>, 'read' | 'lastSequence' | 'findNumber' | 'keepNumber'>;
  /** The CloudEvents source. */
  readonly source: string;
  readonly connect: ConnectEvents;
  /** Notified after each turn that changed something. */
  readonly changes: ChangeSignal;
  /** Waits so long, or until the signal fires. Never rejects. */
  pause(durationMs: number, signal: AbortSignal): Promise<void>;
  /** Hears of the start of each outage, with its reason, and of its end: undefined. */
  onTrouble(error: unknown): void;
}

/** Name, in the journal, of how far all is published. */
const placeName = 'events_published';
/** Changes read from the journal at a time. */
const readMax = 64;
const pauseMin = 100;
const pauseMax = 15_000;

/**
 * Publishes what the journal tells, in order, each event at least once; repeats have the same id. Nobody waits for it: what cannot be sent stays in the journal.
 *
 * Events of one page go out at once, each on condition that the one before it is the last in the stream, so that their order holds where one is lost.
 */
export class EventPublisher {
  readonly #options: EventPublisherOptions;
  readonly #stopping = new AbortController();
  #place: number;
  #isTroubled = false;
  #running: Promise<void> | undefined;

  constructor(options: EventPublisherOptions) {
    this.#options = options;
    // After a power cut the journal may end before what was published of it.
    this.#place = Math.min(options.journal.findNumber(placeName) ?? 0, options.journal.lastSequence());
  }

  /** Changes that are not published yet. */
  get lag(): number {
    return this.#options.journal.lastSequence() - this.#place;
  }

  /** Begins, and goes on until it is stopped. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends. What is left comes with the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { connect, onTrouble, pause } = this.#options;
    for (let wait = pauseMin; !signal.aborted; wait = Math.min(2 * wait, pauseMax)) {
      const before = this.#place;
      try {
        await this.#publishOver(await connect());
      } catch (error) {
        if (!this.#isTroubled) onTrouble(error);
        this.#isTroubled = true;
      }
      if (this.#place > before) wait = pauseMin;
      if (!signal.aborted) await pause(wait, signal);
    }
  }

  /** Publishes over one connection until that is gone or the publisher is stopped. */
  async #publishOver(connection: EventConnection): Promise<void> {
    const { changes, onTrouble } = this.#options;
    const over = new AbortController();
    void connection.closed.then(() => { over.abort(); });
    const ending = AbortSignal.any([over.signal, this.#stopping.signal]);
    try {
      while (!ending.aborted) {
        const seen = changes.count;
        if (!(await this.#publishPage(connection))) await changes.changed(seen, ending);
        if (this.#isTroubled && !over.signal.aborted) onTrouble(undefined);
        this.#isTroubled = false;
      }
    } finally {
      await connection.close();
    }
    if (!this.#stopping.signal.aborted) throw new Error('the connection was closed');
  }

  /** Sends what one read of the journal brings and keeps the place. Whether there was any. @throws what kept a message from being kept. */
  async #publishPage(connection: EventConnection): Promise<boolean> {
    const { journal, source } = this.#options;
    const entries = journal.read({ after: this.#place, limit: readMax });
    const last = entries.at(-1);
    if (last === undefined) return false;
    const messages = entries.flatMap(({ sequence, at, change }) => encodeReservationEvents(source, { sequence, at, events: eventsOf(change) }));
    await this.#publishAll(connection, messages);
    this.#place = last.sequence;
    journal.keepNumber(placeName, this.#place);
    return true;
  }

  /** A row at once; where others' messages came between, one after another. */
  async #publishAll(connection: EventConnection, messages: readonly EventMessage[]): Promise<void> {
    const fates = await Promise.allSettled(messages.map((message, index) => connection.publish(message, messages[index - 1]?.messageId)));
    const missing = fates.findIndex((fate) => fate.status === 'rejected' || fate.value !== 'kept');
    if (missing === -1) return;
    for (const message of messages.slice(missing)) await connection.publish(message);
  }
}
