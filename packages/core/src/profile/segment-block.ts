import type { Instant, ProcessorCount } from '../shared/index.ts';
import type { RunSummary } from './run-summaries.ts';

/**
 * Segments that one block holds at most: large enough to keep blocks few, small enough that moving a tail costs little.
 */
export const blockMax = 128;

/** Neighbouring segments of a profile, kept together. */
export class SegmentBlock {
  /** Ascending; the first `count` are in use. */
  readonly starts = new Float64Array(blockMax);
  /** Free capacity of the segment that begins at the same index. */
  readonly free = new Int32Array(blockMax);
  /** 1 to blockMax. */
  count = 0;

  get start(): Instant {
    return this.starts[0] as Instant;
  }

  /** The segment that holds `at`; the first for anything earlier. Cost: O(log count). */
  indexAt(at: Instant): number {
    const { starts } = this;
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((starts[middle] as Instant) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Cuts the segment at `index` in two at an instant inside; the later half is the next one. The block is not full. */
  cut(index: number, at: Instant): void {
    this.starts.copyWithin(index + 1, index, this.count);
    this.free.copyWithin(index + 1, index, this.count);
    this.starts[index + 1] = at;
    this.count += 1;
  }

  /**
   * Takes out `removed` segments from `index` on: the first ones, or others with the same free capacity as the one
   * before.
   */
  remove(index: number, removed: number): void {
    this.starts.copyWithin(index, index + removed, this.count);
    this.free.copyWithin(index, index + removed, this.count);
    this.count -= removed;
  }

  /** Moves the segments from `index` on into a new block. */
  split(index: number): SegmentBlock {
    const tail = new SegmentBlock();
    tail.append(this, index);
    this.count = index;
    return tail;
  }

  /** Copies the segments of another block from `index` on behind the own ones; there is room for them. */
  append(other: SegmentBlock, index = 0): void {
    this.starts.set(other.starts.subarray(index, other.count), this.count);
    this.free.set(other.free.subarray(index, other.count), this.count);
    this.count += other.count - index;
  }

  /** Sums up how long a width is free. Cost: O(count). */
  summarize(width: ProcessorCount): RunSummary {
    const { starts, free, count } = this;
    let prefixEnd = Infinity;
    let longest = 0;
    let suffixStart = this.start;
    for (let i = 0; i < count; i += 1) {
      if ((free[i] as ProcessorCount) >= width) continue;
      const end = starts[i] as Instant;
      if (prefixEnd === Infinity) prefixEnd = end;
      if (end - suffixStart > longest) longest = end - suffixStart;
      while (i + 1 < count && (free[i + 1] as ProcessorCount) < width) i += 1;
      suffixStart = i + 1 < count ? (starts[i + 1] as Instant) : Infinity;
    }
    return { prefixEnd, longest, suffixStart };
  }
}
