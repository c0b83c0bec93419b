import type { ProcessorCount } from '../shared/index.ts';
import { RunSummaries } from './run-summaries.ts';
import type { SegmentBlock } from './segment-block.ts';

/** Blocks that are summarised together. */
export const groupMax = 16;

/** What is remembered of `groupMax` blocks that follow one another; it does not hold them. */
export class BlockGroup {
  readonly summaries = new RunSummaries();
  #version = 0;

  /** Says that one of the blocks changed, or that they are others. */
  touch(): void {
    this.#version += 1;
  }

  /** The slot of a width's summary over blocks[from, to), not empty. Cost: O(1), else O(to - from), and more for blocks that changed. */
  summarize(width: ProcessorCount, blocks: readonly SegmentBlock[], from: number, to: number): number {
    const slot = this.summaries.slotOf(width);
    if (!this.summaries.isFresh(slot, width, this.#version)) this.#compute(width, slot, blocks.slice(from, to));
    return slot;
  }

  #compute(width: ProcessorCount, slot: number, blocks: readonly SegmentBlock[]): void {
    let prefixEnd = Infinity;
    let longest = 0;
    let runStart = Infinity;
    for (const block of blocks) {
      const inner = block.summarize(width);
      const innerEnd = block.summaries.prefixEnd(inner);
      const begin = Math.min(runStart, block.start);
      if (innerEnd === Infinity) {
        runStart = begin;
        continue;
      }
      if (prefixEnd === Infinity) prefixEnd = innerEnd;
      longest = Math.max(longest, innerEnd - begin, block.summaries.longest(inner));
      runStart = block.summaries.suffixStart(inner);
    }
    this.summaries.claim(slot, width, this.#version);
    this.summaries.write(slot, prefixEnd, longest, runStart);
  }
}
