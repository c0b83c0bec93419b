import type { Instant } from '../shared/index.ts';
import type { SegmentBlock } from './segment-block.ts';

/**
 * Blocks of a profile in order of time, and where each begins.
 *
 * Starts are also stored in one contiguous array: searches go through them far more often than through the blocks,
 * which are spread over memory. Code that changes the start of a block must call `noteStart`. b is the number of
 * blocks.
 */
export class BlockList {
  readonly blocks: SegmentBlock[];
  /** By block; what is beyond the last one is of no meaning. */
  #starts: Float64Array;

  /** @param blocks at least one; owned by the list from now on. */
  constructor(blocks: SegmentBlock[]) {
    this.blocks = blocks;
    this.#starts = Float64Array.from(blocks, ({ start }) => start);
  }

  get length(): number {
    return this.blocks.length;
  }

  /** The block at an index; it is there. */
  get(index: number): SegmentBlock {
    return this.blocks[index] as SegmentBlock;
  }

  /** Where a block begins. */
  startOf(index: number): Instant {
    return this.#starts[index] as Instant;
  }

  /** Where a block ends; Infinity for the last. */
  findEnd(index: number): Instant {
    return index + 1 < this.blocks.length ? (this.#starts[index + 1] as Instant) : Infinity;
  }

  /** The block that holds `at`; the first for anything earlier. Cost: O(log b). */
  indexAt(at: Instant): number {
    let low = 0;
    let high = this.blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#starts[middle] as Instant) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Says that a block begins elsewhere than before. */
  noteStart(index: number): void {
    this.#starts[index] = this.get(index).start;
  }

  /** Puts a block before the one at `index`. Cost: O(b). */
  insert(index: number, block: SegmentBlock): void {
    const count = this.blocks.length;
    if (count === this.#starts.length) {
      const starts = new Float64Array(2 * count);
      starts.set(this.#starts);
      this.#starts = starts;
    }
    this.#starts.copyWithin(index + 1, index, count);
    this.blocks.splice(index, 0, block);
    this.noteStart(index);
  }

  /** Takes out `removed` blocks from `index` on; at least one is left. Cost: O(b). */
  remove(index: number, removed: number): void {
    this.#starts.copyWithin(index, index + removed, this.blocks.length);
    this.blocks.splice(index, removed);
  }
}
