import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/** Segments that one block holds at most: large enough to keep blocks few, small enough that moving a tail costs little. */
export const blockMax = 512;

/** Widths whose summaries a block remembers; a power of two. */
const summaryMax = 64;

/** Numbers of a summary, padded to a line of the processor's cache. */
const summaryFields = 8;

/** Neighbouring segments of a profile, kept together. */
export class SegmentBlock {
  /** Ascending; the first `count` are in use. */
  readonly starts = new Float64Array(blockMax);
  /** Free capacity of the segment that begins at the same index. */
  readonly free = new Int32Array(blockMax);
  /** 1 to blockMax. */
  count = 0;
  /** Counts changes; whoever writes to `starts` or `free` directly calls `touch`. */
  #version = 0;
  /** By the low digits of the width: width, version, prefix end, longest, suffix start; made when it is first asked for. */
  #summaries: Float64Array | undefined;

  get start(): Instant {
    return this.starts[0] as Instant;
  }

  touch(): void {
    this.#version += 1;
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

  /** Puts a segment before the one at `index`. The block is not full. */
  insert(index: number, start: Instant, free: ProcessorCount): void {
    this.starts.copyWithin(index + 1, index, this.count);
    this.free.copyWithin(index + 1, index, this.count);
    this.starts[index] = start;
    this.free[index] = free;
    this.count += 1;
    this.touch();
  }

  /** Takes out `removed` segments from `index` on. */
  remove(index: number, removed: number): void {
    this.starts.copyWithin(index, index + removed, this.count);
    this.free.copyWithin(index, index + removed, this.count);
    this.count -= removed;
    this.touch();
  }

  /** Moves the segments from `index` on into a new block. */
  split(index: number): SegmentBlock {
    const tail = new SegmentBlock();
    tail.append(this, index);
    this.count = index;
    this.touch();
    return tail;
  }

  /** Copies the segments of another block from `index` on behind the own ones; there is room for them. */
  append(other: SegmentBlock, index = 0): void {
    this.starts.set(other.starts.subarray(index, other.count), this.count);
    this.free.set(other.free.subarray(index, other.count), this.count);
    this.count += other.count - index;
    this.touch();
  }

  /**
   * How long `width` is free here; remembered until the block changes, and read by the three methods below, which take what this
   * returns. What touches the block's end is told apart, since only its neighbour knows that end. Cost: O(1), else O(count).
   */
  summarize(width: ProcessorCount): number {
    this.#summaries ??= new Float64Array(summaryMax * summaryFields).fill(-1);
    const at = (width & (summaryMax - 1)) * summaryFields;
    if (this.#summaries[at] !== width || this.#summaries[at + 1] !== this.#version) this.#compute(width, at, this.#summaries);
    return at;
  }

  /** When the free run that begins with the block ends: the block's start where it is not free, Infinity where all of it is free. */
  prefixEnd(summary: number): Instant {
    return this.#summaries?.[summary + 2] as Instant;
  }

  /** The longest free run that ends inside the block. */
  longest(summary: number): Duration {
    return this.#summaries?.[summary + 3] as Duration;
  }

  /** When the free run that reaches the block's end begins; Infinity where the last segment is not free. */
  suffixStart(summary: number): Instant {
    return this.#summaries?.[summary + 4] as Instant;
  }

  #compute(width: ProcessorCount, at: number, summaries: Float64Array): void {
    const { starts, free, count } = this;
    let prefixEnd = Infinity;
    let longest = 0;
    let runStart = this.start;
    for (let i = 0; i < count; i += 1) {
      if ((free[i] as ProcessorCount) >= width) continue;
      const end = starts[i] as Instant;
      if (prefixEnd === Infinity) prefixEnd = end;
      if (end - runStart > longest) longest = end - runStart;
      while (i + 1 < count && (free[i + 1] as ProcessorCount) < width) i += 1;
      runStart = i + 1 < count ? starts[i + 1] as Instant : Infinity;
    }
    summaries[at] = width;
    summaries[at + 1] = this.#version;
    summaries[at + 2] = prefixEnd;
    summaries[at + 3] = longest;
    summaries[at + 4] = runStart;
  }
}
