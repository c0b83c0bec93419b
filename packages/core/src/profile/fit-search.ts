import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import { getSummarySlot, type RunSummaries } from './run-summaries.ts';
import type { SegmentBlock } from './segment-block.ts';

/**
 * A walk along a profile that looks for the first place where a width is free for a duration.
 *
 * One object serves many walks, one after the other: the millions of walks of a trace would otherwise feed the garbage
 * collector.
 */
export class FitSearch {
  #width: ProcessorCount = 0;
  #slot = 0;
  #duration: Duration = 0.5;
  #until: Instant = 0.5;
  /** The beginning of the free run that the walk is in, or the end of the visited part; the place, once it is found. */
  candidate: Instant = 0.5;

  /** Begins a walk. @param duration more than 0. @param until from here on everything counts as free. */
  begin(width: ProcessorCount, duration: Duration, from: Instant, until: Instant): void {
    this.#width = width;
    this.#slot = getSummarySlot(width);
    this.#duration = duration;
    this.#until = until;
    this.candidate = from;
  }

  /** Where summaries of its width are. */
  get slot(): number {
    return this.#slot;
  }

  /** Whether the walk could stop before `end`, wherever it is found. */
  isBounded(end: Instant): boolean {
    return end >= this.#until;
  }

  /**
   * Walks past a stretch that ends at `end`, before `until`, if its summary says that the place is not there; false
   * when it may be. The
   * candidate is then perhaps earlier than where the free run really begins. Cost: O(1).
   */
  pass(summaries: RunSummaries, row: number, end: Instant): boolean {
    const prefixEnd = summaries.prefixEnd(this.#slot, row);
    if (Math.min(prefixEnd, end) - this.candidate >= this.#duration) return false;
    if (prefixEnd === Infinity) return true;
    const suffixStart = Math.min(summaries.suffixStart(this.#slot, row), end);
    if (summaries.longest(this.#slot, row) >= this.#duration || end - suffixStart >= this.#duration) return false;
    // A summary may be older than the profile's present beginning, and then names an earlier instant.
    this.candidate = Math.max(this.candidate, suffixStart);
    return true;
  }

  /** Walks through the segments from `index` on one by one; true when the place is found. Cost: O(segments). */
  scan(block: SegmentBlock, index: number, blockEnd: Instant): boolean {
    const { starts, free, count } = block;
    const width = this.#width;
    let { candidate } = this;
    let i = index;
    while (i < count) {
      if ((free[i] as ProcessorCount) < width) {
        do i += 1;
        while (i < count && (free[i] as ProcessorCount) < width);
        candidate = i < count ? (starts[i] as Instant) : blockEnd;
        if (candidate >= this.#until) return this.#find(this.#until);
      }
      const enough = Math.min(candidate + this.#duration, this.#until);
      i = endOfRun(block, i, width, enough);
      if ((i < count ? (starts[i] as Instant) : blockEnd) >= enough) return this.#find(candidate);
    }
    this.candidate = candidate;
    return false;
  }

  #find(place: Instant): true {
    this.candidate = place;
    return true;
  }
}

/**
 * The first segment from `from` on where `width` is not free or that begins at `enough` or later; `count` without one.
 */
function endOfRun({ starts, free, count }: SegmentBlock, from: number, width: ProcessorCount, enough: Instant): number {
  let i = from;
  while (i < count && (free[i] as ProcessorCount) >= width && (starts[i] as Instant) < enough) i += 1;
  return i;
}
