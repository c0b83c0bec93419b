import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import type { RunSummaries } from './run-summaries.ts';
import type { SegmentBlock } from './segment-block.ts';

/**
 * A walk along a profile that looks for the first place where a width is free for a duration.
 *
 * One object serves many walks, one after the other: the millions of walks of a trace would otherwise feed the garbage collector.
 */
export class FitSearch {
  #width: ProcessorCount = 0;
  #duration: Duration = 0.5;
  #until: Instant = 0.5;
  /** Where the free run begins that the walk is in, or the end of what it has seen; the place, once it is found. */
  candidate: Instant = 0.5;

  /** Begins a walk. @param duration more than 0. @param until from here on everything counts as free. */
  begin(width: ProcessorCount, duration: Duration, from: Instant, until: Instant): void {
    this.#width = width;
    this.#duration = duration;
    this.#until = until;
    this.candidate = from;
  }

  /** Whether the walk could stop before `end`, wherever it is found. */
  isBounded(end: Instant): boolean {
    return end >= this.#until;
  }

  /** Walks through a whole block that ends at `blockEnd`; true when the place is found. Cost: O(1) for most blocks that did not change. */
  pass(block: SegmentBlock, blockEnd: Instant): boolean {
    if (blockEnd >= this.#until) return this.scan(block, 0, blockEnd);
    const weight = this.weigh(block.summaries, block.summarize(this.#width), blockEnd);
    return weight === 'inside' ? this.scan(block, 0, blockEnd) : weight === 'found';
  }

  /**
   * Judges a stretch that ends at `end`, before `until`, by its summary: the place was found, is perhaps inside, or is not there, and then
   * the walk is past it. Cost: O(1).
   */
  weigh(summaries: RunSummaries, slot: number, end: Instant): 'found' | 'inside' | 'passed' {
    const prefixEnd = summaries.prefixEnd(slot);
    if (Math.min(prefixEnd, end) - this.candidate >= this.#duration) return 'found';
    if (prefixEnd === Infinity) return 'passed';
    if (summaries.longest(slot) >= this.#duration) return 'inside';
    this.candidate = Math.min(summaries.suffixStart(slot), end);
    return end - this.candidate >= this.#duration ? 'found' : 'passed';
  }

  /** Walks through the segments from `index` on one by one; true when the place is found. Cost: O(segments). */
  scan(block: SegmentBlock, index: number, blockEnd: Instant): boolean {
    const { starts, free, count } = block;
    const width = this.#width;
    let { candidate } = this;
    let i = index;
    while (i < count) {
      if ((free[i] as ProcessorCount) < width) {
        do i += 1; while (i < count && (free[i] as ProcessorCount) < width);
        candidate = i < count ? starts[i] as Instant : blockEnd;
        if (candidate >= this.#until) return this.#find(this.#until);
      }
      const enough = Math.min(candidate + this.#duration, this.#until);
      i = endOfRun(block, i, width, enough);
      if ((i < count ? starts[i] as Instant : blockEnd) >= enough) return this.#find(candidate);
    }
    this.candidate = candidate;
    return false;
  }

  #find(place: Instant): true {
    this.candidate = place;
    return true;
  }
}

/** The first segment from `from` on where `width` is not free or that begins at `enough` or later; `count` without one. */
function endOfRun({ starts, free, count }: SegmentBlock, from: number, width: ProcessorCount, enough: Instant): number {
  let i = from;
  while (i < count && (free[i] as ProcessorCount) >= width && (starts[i] as Instant) < enough) i += 1;
  return i;
}
