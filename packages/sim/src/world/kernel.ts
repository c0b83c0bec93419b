import { Heap, invariant, type Duration, type Instant } from '@mutirao/core/shared';

interface Event {
  readonly at: Instant;
  /** Counts what was scheduled: of two at one instant the first that was scheduled happens first. */
  readonly order: number;
  readonly run: () => void;
}

/** More events at one instant than any world needs: two sides answer each other without end. */
const atOnceMax = 100_000;

/** Virtual time: future events, in order. The same calls, the same order. */
export class Kernel {
  #now: Instant;
  #order = 0;
  /** Events at this instant so far. */
  #atOnce = 0;
  readonly #upcoming = new Heap<Event>(
    (one, other) => one.at < other.at || (one.at === other.at && one.order < other.order),
  );

  /** @param start the instant at which time begins. */
  constructor(start: Instant) {
    this.#now = start;
  }

  get now(): Instant {
    return this.#now;
  }

  /** Events so far. */
  get count(): number {
    return this.#order - this.#upcoming.size;
  }

  /** Lets something happen `delay` from now, 0 or more. Cost: O(log upcoming). */
  after(delay: Duration, run: () => void): void {
    this.at(this.#now + delay, run);
  }

  /** Lets something happen at an instant; at once where that is past. */
  at(instant: Instant, run: () => void): void {
    this.#order += 1;
    this.#upcoming.push({ at: Math.max(this.#now, Math.ceil(instant)), order: this.#order, run });
  }

  /**
   * Goes on until nothing is left that happens before `end`; then it is `end`.
   *
   * @throws {InvariantError} when time stands still.
   */
  runUntil(end: Instant): void {
    for (let next = this.#upcoming.first; next !== undefined && next.at < end; next = this.#upcoming.first) {
      this.#upcoming.pop();
      this.#atOnce = next.at === this.#now ? this.#atOnce + 1 : 0;
      invariant(this.#atOnce < atOnceMax, `time stands still: ${atOnceMax} events at one instant`);
      this.#now = next.at;
      next.run();
    }
    this.#now = Math.max(this.#now, end);
  }
}
