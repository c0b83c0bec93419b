import type { JobEvent } from '@mutirao/api/broker';

import type { GridEvent } from '../../schema/index.ts';
import { gridEvent } from '../documents/events.ts';
import type { GatewayParts } from '../grid-calls.ts';

/** Changes of the journal that the first look goes back. */
const firstChanges = 100;
/** Events that are taken within a second; what comes beyond that is left out, and costs the broker nothing. */
const takenPerSecond = 200;
const pauseMs = 1000;
const keptMax = 200;

/** What is kept of an event: a greater version was heard later. */
interface Heard {
  readonly version: number;
  readonly event: GridEvent;
}

/**
 * Hears what happens, and keeps the last of it. While more happens than anybody reads it looks away for a while and comes back to the newest: the broker is never asked for a backlog.
 */
export class EventFeed {
  readonly #parts: Pick<GatewayParts, 'grid' | 'clock'>;
  readonly #nextVersion: () => number;
  #heard: Heard[] = [];
  #lastSequence = 0;
  #isSampled = false;
  #watching: AbortController | undefined;
  #resumeAt = 0;
  #second = { at: 0, count: 0 };

  constructor(parts: Pick<GatewayParts, 'grid' | 'clock'>, nextVersion: () => number) {
    this.#parts = parts;
    this.#nextVersion = nextVersion;
  }

  /** Goes on hearing, if it does not already and it is time. */
  keepHearing(): void {
    if (this.#watching !== undefined || this.#parts.clock.now() < this.#resumeAt) return;
    const watching = new AbortController();
    this.#watching = watching;
    void this.#hear(watching);
  }

  stop(): void {
    this.#watching?.abort();
    this.#watching = undefined;
  }

  /** The version of what was heard last; 0 before anything was. */
  get version(): number {
    return this.#heard.at(-1)?.version ?? 0;
  }

  /** What was heard after a version, the oldest first, and whether something in between is missing. */
  after(version: number): { events: GridEvent[]; is_sampled: boolean } {
    const news = this.#heard.filter((one) => one.version > version);
    const isCut = version > 0 && news.length === keptMax;
    return { events: news.map(({ event }) => event), is_sampled: this.#isSampled || isCut };
  }

  async #hear(watching: AbortController): Promise<void> {
    const { grid, clock } = this.#parts;
    try {
      for await (const { events } of grid.broker().watchJob({ jobId: 0, afterSequence: 0, lastChanges: firstChanges }, watching.signal)) {
        if (watching.signal.aborted) return;
        this.#take(events);
        if (this.#isTooMuch(clock.now(), events.length)) {
          this.#isSampled = true;
          return;
        }
      }
    } catch {
      // Whether the broker is there is told by the readings; this comes back with it.
    } finally {
      watching.abort();
      if (this.#watching === watching) this.#watching = undefined;
      this.#resumeAt = clock.now() + pauseMs;
    }
  }

  /** Events of one change have one sequence, and come in one message. */
  #take(events: readonly JobEvent[]): void {
    const sequence = events[0]?.sequence;
    if (sequence === undefined) return;
    // The look back does not go that far: it is another journal, which counts anew.
    const isAnother = sequence < this.#lastSequence - firstChanges;
    if (sequence <= this.#lastSequence && !isAnother) return;
    this.#lastSequence = sequence;
    for (const event of events) this.#heard.push({ version: this.#nextVersion(), event: gridEvent(event) });
    if (this.#heard.length > keptMax) this.#heard = this.#heard.slice(-keptMax);
  }

  #isTooMuch(now: number, count: number): boolean {
    if (now - this.#second.at >= 1000) {
      if (this.#second.count < takenPerSecond) this.#isSampled = false;
      this.#second = { at: now, count: 0 };
    }
    this.#second.count += count;
    return this.#second.count > takenPerSecond;
  }
}
