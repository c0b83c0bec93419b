import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/** Widths that are remembered at once; a power of two. */
const widthMax = 64;

/** Width, version, prefix end, longest, suffix start. */
const fieldCount = 5;

/**
 * How long a width is free in a stretch of a profile, remembered for several widths until the stretch changes.
 *
 * What touches the end of the stretch is told apart, since only the neighbour knows that end. Numbers lie side by side in one array:
 * as objects they would be spread over memory, and searches wait for memory more than for anything else.
 */
export class RunSummaries {
  /** By the low digits of the width. */
  readonly #numbers = new Float64Array(widthMax * fieldCount).fill(-1);

  /** Where the summary of a width is or belongs; what the methods below take. */
  slotOf(width: ProcessorCount): number {
    return (width & (widthMax - 1)) * fieldCount;
  }

  /** Whether the slot holds the width's summary as of this version of the stretch. */
  isFresh(slot: number, width: ProcessorCount, version: number): boolean {
    return this.#numbers[slot] === width && this.#numbers[slot + 1] === version;
  }

  /** Marks the slot as holding the width's summary; `write` follows. */
  claim(slot: number, width: ProcessorCount, version: number): void {
    this.#numbers[slot] = width;
    this.#numbers[slot + 1] = version;
  }

  write(slot: number, prefixEnd: Instant, longest: Duration, suffixStart: Instant): void {
    this.#numbers[slot + 2] = prefixEnd;
    this.#numbers[slot + 3] = longest;
    this.#numbers[slot + 4] = suffixStart;
  }

  /** When the free run that begins with the stretch ends: its start where it is not free, Infinity where all of it is free. */
  prefixEnd(slot: number): Instant {
    return this.#numbers[slot + 2] as Instant;
  }

  /** The longest free run that ends inside. */
  longest(slot: number): Duration {
    return this.#numbers[slot + 3] as Duration;
  }

  /** When the free run that reaches the end begins; Infinity where the last segment is not free. */
  suffixStart(slot: number): Instant {
    return this.#numbers[slot + 4] as Instant;
  }
}
