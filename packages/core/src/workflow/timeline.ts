import type { Duration, Instant } from '../shared/index.ts';

/** When a processor is occupied: stretches of time that do not overlap. Those without length are not kept. */
export class Timeline {
  /** Ascending; `#starts[i] < #ends[i] <= #starts[i + 1]`. */
  readonly #starts: Instant[] = [];
  readonly #ends: Instant[] = [];
  /** The task of each stretch, by its index. */
  readonly #tasks: number[] = [];
  readonly #availableFrom: Instant;

  constructor(availableFrom: Instant) {
    this.#availableFrom = availableFrom;
  }

  /** From when on nothing more is placed. */
  get end(): Instant {
    return this.#ends.at(-1) ?? this.#availableFrom;
  }

  /**
   * The earliest start, no earlier than `from`, of a stretch that fits between those that are there. Cost: O(log
   * stretches + stretches after `from`).
   */
  findStart(from: Instant, duration: Duration): Instant {
    let start = Math.max(from, this.#availableFrom);
    for (let index = this.#firstEndingAfter(start); index < this.#starts.length; index += 1) {
      if (start + duration <= (this.#starts[index] as number)) return start;
      start = this.#ends[index] as number;
    }
    return start;
  }

  /** The task whose stretch ends exactly then; undefined when there is none. */
  taskEndingAt(instant: Instant): number | undefined {
    const index = this.#firstEndingAfter(instant) - 1;
    return this.#ends[index] === instant ? this.#tasks[index] : undefined;
  }

  /** Adds a stretch that {@link findStart} or {@link end} showed to be free. Cost: O(stretches after it). */
  occupy(task: number, start: Instant, end: Instant): void {
    if (end <= start) return;
    const index = this.#firstEndingAfter(start);
    this.#starts.splice(index, 0, start);
    this.#ends.splice(index, 0, end);
    this.#tasks.splice(index, 0, task);
  }

  /** Index of the first stretch that ends after an instant; the number of stretches when none does. */
  #firstEndingAfter(instant: Instant): number {
    let [low, high] = [0, this.#ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ends[middle] as number) > instant) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
