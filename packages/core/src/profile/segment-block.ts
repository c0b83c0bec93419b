import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/** Segments that one block holds at most: large enough to keep blocks few, small enough that moving a tail costs little. */
export const blockMax = 128;

/** Summaries that a block remembers, by width; a power of two. */
const summaryMax = 16;

/** How long `width` is free in a block; what touches the block's end is told apart, since only its neighbour knows that end. */
export class BlockSummary {
  width: ProcessorCount = -1;
  /** The block's version when this was computed. */
  version = -1;
  /** When the free run that begins with the block ends: the block's start where it is not free, Infinity where all of it is free. */
  prefixEnd: Instant = 0;
  /** Longest free run that ends inside the block. */
  longest: Duration = 0;
  /** When the free run that reaches the block's end begins; Infinity where the last segment is not free. */
  suffixStart: Instant = 0;
}

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
  readonly #summaries: BlockSummary[] = [];

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

  /** How long `width` is free here; remembered until the block changes. Cost: O(1), else O(count). */
  summarize(width: ProcessorCount): BlockSummary {
    const slot = (width ^ (width >>> 4)) & (summaryMax - 1);
    const summary = (this.#summaries[slot] ??= new BlockSummary());
    if (summary.width !== width || summary.version !== this.#version) this.#compute(width, summary);
    return summary;
  }

  #compute(width: ProcessorCount, summary: BlockSummary): void {
    const { starts, free, count } = this;
    summary.width = width;
    summary.version = this.#version;
    summary.prefixEnd = Infinity;
    summary.longest = 0;
    let runStart = this.start;
    for (let i = 0; i < count; i += 1) {
      if ((free[i] as ProcessorCount) >= width) continue;
      const at = starts[i] as Instant;
      if (summary.prefixEnd === Infinity) summary.prefixEnd = at;
      if (at - runStart > summary.longest) summary.longest = at - runStart;
      while (i + 1 < count && (free[i + 1] as ProcessorCount) < width) i += 1;
      runStart = i + 1 < count ? starts[i + 1] as Instant : Infinity;
    }
    summary.suffixStart = runStart;
  }
}
