import type { JobEvent, WatchJobResponse } from '@mutirao/api/broker';

import type { GridEvent } from '../../schema/index.ts';
import { gridEvent, indexesShown } from '../documents/events.ts';
import type { GatewayParts } from '../grid-calls.ts';

/** Changes of the journal that the first look goes back. */
const firstChanges = 100;
/** Changes that the broker sends in a second: more than anybody reads, and few enough to cost it little in any case. */
const changesPerSecond = 20;
const pauseMs = 1000;
const keptMax = 200;

/** A stored event; later events have greater versions. */
interface Received {
  readonly version: number;
  /** Whether the broker skipped others right before it. */
  readonly isAfterGap: boolean;
  readonly event: GridEvent;
}

/**
 * Receives events and keeps the last ones. While there are more than anybody reads, the broker skips those before the
 * newest, and says so.
 */
export class EventFeed {
  readonly #parts: Pick<GatewayParts, 'grid' | 'clock'>;
  readonly #nextVersion: () => number;
  #received: Received[] = [];
  #lastSequence = 0;
  /** The last sequence before the present stream, which begins earlier and repeats some events. */
  #knownSequence = 0;
  /** Whether the last message ended within a change. */
  #isInsideChange = false;
  /** Of the journal that the last sequence is of. */
  #journalInstance: string | undefined;
  /** Whether some were passed over since the last one that is kept. */
  #isAfterGap = false;
  #watching: AbortController | undefined;
  #resumeAt = 0;

  constructor(parts: Pick<GatewayParts, 'grid' | 'clock'>, nextVersion: () => number) {
    this.#parts = parts;
    this.#nextVersion = nextVersion;
  }

  /** Watches again, if it does not already and it is time. */
  keepReceiving(): void {
    if (this.#watching !== undefined || this.#parts.clock.now() < this.#resumeAt) return;
    const watching = new AbortController();
    this.#watching = watching;
    void this.#receive(watching);
  }

  stop(): void {
    this.#watching?.abort();
    this.#watching = undefined;
  }

  /** The version of the last event; 0 before the first. */
  get version(): number {
    return this.#received.at(-1)?.version ?? 0;
  }

  /** The events after a version, the oldest first, and whether something in between is missing. */
  after(version: number): { events: GridEvent[]; is_sampled: boolean } {
    const news = this.#received.filter((one) => one.version > version);
    const isCut = version > 0 && news.length === keptMax;
    return { events: news.map(({ event }) => event), is_sampled: isCut || news.some(({ isAfterGap }) => isAfterGap) };
  }

  async #receive(watching: AbortController): Promise<void> {
    const { grid, clock } = this.#parts;
    this.#knownSequence = this.#lastSequence;
    // Another stream does not send the rest of a change that was cut.
    this.#isAfterGap ||= this.#isInsideChange;
    this.#isInsideChange = false;
    const spec = {
      jobId: 0,
      afterSequence: 0,
      lastChanges: firstChanges,
      changesPerSecondMax: changesPerSecond,
      taskIndexesMax: indexesShown,
    };
    try {
      for await (const message of grid.broker().watchJob(spec, watching.signal)) {
        if (watching.signal.aborted) return;
        this.#take(message);
      }
    } catch {
      // The readings report whether the broker is there; this stream comes back with it.
    } finally {
      watching.abort();
      if (this.#watching === watching) this.#watching = undefined;
      this.#resumeAt = clock.now() + pauseMs;
    }
  }

  #take({ events, skippedCount = 0, journalInstance, lastEventCount }: WatchJobResponse): void {
    this.#isAfterGap ||= skippedCount > 0;
    this.#isInsideChange = lastEventCount !== undefined;
    const [first, last] = [events[0], events.at(-1)];
    if (first === undefined || last === undefined) return;
    // The look back does not go that far: it is another journal, whether the broker names it or not.
    if (journalInstance !== this.#journalInstance || first.sequence < this.#lastSequence - firstChanges)
      this.#lastSequence = this.#knownSequence = 0;
    this.#journalInstance = journalInstance;
    for (const event of events) if (event.sequence > this.#knownSequence) this.#keep(event);
    this.#lastSequence = Math.max(this.#lastSequence, last.sequence);
    if (this.#received.length > keptMax) this.#received = this.#received.slice(-keptMax);
  }

  #keep(event: JobEvent): void {
    this.#received.push({ version: this.#nextVersion(), isAfterGap: this.#isAfterGap, event: gridEvent(event) });
    this.#isAfterGap = false;
  }
}
