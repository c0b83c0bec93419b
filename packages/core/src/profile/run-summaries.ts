import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/** Up to four summaries for each power of two of the width, up to 2^25. */
const slotCount = 96;

/** Whether it is kept, prefix end, longest, suffix start. */
const fieldCount = 4;

/** Where the summary of a width is; wider ones than 2^25 share the last. */
export function getSummarySlot(width: ProcessorCount): number {
  if (width < 8) return width;
  const shift = 29 - Math.clz32(width);
  return Math.min(slotCount - 1, 4 + 4 * (shift - 1) + (width >>> shift));
}

/** The width that stands for all those of a slot: the narrowest. */
export function getNarrowest(slot: number): ProcessorCount {
  if (slot < 8) return slot;
  return (4 + (slot % 4)) << ((slot >>> 2) - 1);
}

/**
 * How long widths are free in stretches of a profile, kept until a stretch changes; a row for each stretch.
 *
 * Widths are taken together up to a quarter apart, and a summary is that of the narrowest: it may be too good for the
 * others, never too bad. A run that touches the end of a stretch is kept apart, since only the neighbour knows that end.
 * Numbers lie side by side in one array, those of a slot together for all rows: as objects they would be spread over
 * memory, and searches wait for memory more than for anything else.
 */
export class RunSummaries {
  readonly #rowCount: number;
  /** By slot, row and field. */
  readonly #numbers: Float64Array;

  /** @param widthMax the widest that is asked about. */
  constructor(widthMax: ProcessorCount, rowCount: number) {
    this.#rowCount = rowCount;
    this.#numbers = new Float64Array((getSummarySlot(widthMax) + 1) * rowCount * fieldCount);
  }

  /** Whether a summary is kept. */
  has(slot: number, row: number): boolean {
    return this.#numbers[this.#at(slot, row)] === 1;
  }

  /**
   * Drops what is kept in a row of widths in (above, upTo]: free capacities changed, each between these two.
   *
   * A width that was free before and after, or neither, has the same runs as before; most changes are of a few
   * processors.
   */
  drop(row: number, above: ProcessorCount, upTo: ProcessorCount): void {
    const last = this.#at(getSummarySlot(upTo), row);
    for (let at = this.#at(getSummarySlot(above) + 1, row); at <= last; at += this.#rowCount * fieldCount)
      this.#numbers[at] = 0;
  }

  /** Drops a row. */
  clear(row: number): void {
    for (let at = this.#at(0, row); at < this.#numbers.length; at += this.#rowCount * fieldCount) this.#numbers[at] = 0;
  }

  /**
   * Moves the rows from `from` on to `to` and what follows it, as many as fit; the caller must then clear or write the
   * row at `from`.
   */
  move(from: number, to: number): void {
    const count = this.#rowCount - Math.max(from, to);
    for (let start = this.#at(0, 0); start < this.#numbers.length; start += this.#rowCount * fieldCount) {
      this.#numbers.copyWithin(start + to * fieldCount, start + from * fieldCount, start + (from + count) * fieldCount);
    }
  }

  /** Keeps a summary; see the methods below. */
  write(slot: number, row: number, { prefixEnd, longest, suffixStart }: RunSummary): void {
    const at = this.#at(slot, row);
    this.#numbers[at] = 1;
    this.#numbers[at + 1] = prefixEnd;
    this.#numbers[at + 2] = longest;
    this.#numbers[at + 3] = suffixStart;
  }

  prefixEnd(slot: number, row: number): Instant {
    return this.#numbers[this.#at(slot, row) + 1] as Instant;
  }

  longest(slot: number, row: number): Duration {
    return this.#numbers[this.#at(slot, row) + 2] as Duration;
  }

  suffixStart(slot: number, row: number): Instant {
    return this.#numbers[this.#at(slot, row) + 3] as Instant;
  }

  #at(slot: number, row: number): number {
    return (slot * this.#rowCount + row) * fieldCount;
  }
}

/** How long a width is free in a stretch. */
export interface RunSummary {
  /**
   * When the free run that begins with the stretch ends: its start if it is not free, Infinity if all of it is free.
   */
  readonly prefixEnd: Instant;
  /** The longest free run that ends inside. */
  readonly longest: Duration;
  /** When the free run that reaches the end begins; Infinity where the last segment is not free. */
  readonly suffixStart: Instant;
}

/** The summary of stretches that follow one another, added one by one. */
export class RunSum implements RunSummary {
  prefixEnd: Instant = Infinity;
  longest: Duration = 0;
  suffixStart: Instant = Infinity;

  /** Adds the next stretch, of which a summary is kept. */
  add(summaries: RunSummaries, slot: number, row: number): void {
    const innerEnd = summaries.prefixEnd(slot, row);
    if (innerEnd === Infinity) {
      if (this.suffixStart === Infinity) this.suffixStart = summaries.suffixStart(slot, row);
      return;
    }
    if (this.prefixEnd === Infinity) this.prefixEnd = innerEnd;
    // A run that begins with this stretch is among the stretch's own.
    if (this.suffixStart < innerEnd) this.longest = Math.max(this.longest, innerEnd - this.suffixStart);
    this.longest = Math.max(this.longest, summaries.longest(slot, row));
    this.suffixStart = summaries.suffixStart(slot, row);
  }
}
