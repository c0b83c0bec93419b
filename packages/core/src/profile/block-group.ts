import { RunSummaries } from './run-summaries.ts';
import type { SegmentBlock } from './segment-block.ts';

/** Blocks that are summarised together. */
export const groupMax = 8;

/** What is remembered of `groupMax` blocks that follow one another; it does not hold them. */
export class BlockGroup {
  readonly #summaries = new RunSummaries();
  #version = 0;

  /** Says that one of the blocks changed, or that they are others. */
  touch(): void {
    this.#version += 1;
  }

  /** What is remembered of a slot's widths over blocks[from, to), not empty. Cost: O(1), else O(to - from), and more for blocks that changed. */
  summarize(slot: number, blocks: readonly SegmentBlock[], from: number, to: number): RunSummaries {
    if (!this.#summaries.isFresh(slot, this.#version)) this.#compute(slot, blocks.slice(from, to));
    return this.#summaries;
  }

  #compute(slot: number, blocks: readonly SegmentBlock[]): void {
    let prefixEnd = Infinity;
    let longest = 0;
    let suffixStart = Infinity;
    for (const block of blocks) {
      const inner = block.summarize(slot);
      const innerEnd = inner.prefixEnd(slot);
      const begin = Math.min(suffixStart, block.start);
      if (innerEnd === Infinity) {
        suffixStart = begin;
        continue;
      }
      if (prefixEnd === Infinity) prefixEnd = innerEnd;
      longest = Math.max(longest, innerEnd - begin, inner.longest(slot));
      suffixStart = inner.suffixStart(slot);
    }
    this.#summaries.write(slot, this.#version, { prefixEnd, longest, suffixStart });
  }
}
