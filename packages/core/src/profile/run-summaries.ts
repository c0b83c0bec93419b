import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/** Up to four summaries for each power of two of the width, up to 2^25. */
const slotCount = 96;

/** Whether it is kept, prefix end, longest, suffix start. */
const fieldCount = 4;

/** Where the summary of a width is; wider ones than 2^25 share the last. */
export function slotOf(width: ProcessorCount): number {
  if (width < 8) return width;
  const shift = 29 - Math.clz32(width);
  return Math.min(slotCount - 1, 4 + 4 * (shift - 1) + (width >>> shift));
}

/** The width that stands for all those of a slot: the narrowest. */
export function narrowestOf(slot: number): ProcessorCount {
  if (slot < 8) return slot;
  return (4 + (slot % 4)) << ((slot >>> 2) - 1);
}

/**
 * How long a width is free in a stretch of a profile, kept until the stretch changes.
 *
 * Widths are taken together up to a quarter apart, and a summary is that of the narrowest: it may be too good for the others, never too
 * bad. What touches the end of the stretch is told apart, since only the neighbour knows that end. Numbers lie side by side in one
 * array: as objects they would be spread over memory, and searches wait for memory more than for anything else.
 */
export class RunSummaries {
  readonly #numbers = new Float64Array(slotCount * fieldCount);

  /** Whether a summary is kept for the slot. */
  has(slot: number): boolean {
    return this.#numbers[slot * fieldCount] === 1;
  }

  /**
   * Drops what is kept of widths in (above, upTo]: free capacities changed, each between these two.
   *
   * A width that was free before and after, or neither, has the same runs as before; most changes are of a few processors.
   */
  drop(above: ProcessorCount, upTo: ProcessorCount): void {
    const last = slotOf(upTo) * fieldCount;
    for (let at = (slotOf(above) + 1) * fieldCount; at <= last; at += fieldCount) this.#numbers[at] = 0;
  }

  /** Drops everything. */
  clear(): void {
    for (let at = 0; at < this.#numbers.length; at += fieldCount) this.#numbers[at] = 0;
  }

  /** Keeps a summary; see the methods below. */
  write(slot: number, { prefixEnd, longest, suffixStart }: RunSummary): void {
    const at = slot * fieldCount;
    this.#numbers[at] = 1;
    this.#numbers[at + 1] = prefixEnd;
    this.#numbers[at + 2] = longest;
    this.#numbers[at + 3] = suffixStart;
  }

  prefixEnd(slot: number): Instant {
    return this.#numbers[slot * fieldCount + 1] as Instant;
  }

  longest(slot: number): Duration {
    return this.#numbers[slot * fieldCount + 2] as Duration;
  }

  suffixStart(slot: number): Instant {
    return this.#numbers[slot * fieldCount + 3] as Instant;
  }
}

/** How long a width is free in a stretch. */
export interface RunSummary {
  /** When the free run that begins with the stretch ends: its start where it is not free, Infinity where all of it is free. */
  readonly prefixEnd: Instant;
  /** The longest free run that ends inside. */
  readonly longest: Duration;
  /** When the free run that reaches the end begins; Infinity where the last segment is not free. */
  readonly suffixStart: Instant;
}
