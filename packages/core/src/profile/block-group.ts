import type { ProcessorCount } from '../shared/index.ts';
import { RunSummaries } from './run-summaries.ts';
import type { SegmentBlock } from './segment-block.ts';

/** What is known of blocks that follow one another and are summarised together; it does not hold them. */
export class BlockGroup {
  /** The index of its first block. */
  first: number;
  /** Made when they are first asked for. */
  #summaries: RunSummaries | undefined;

  constructor(first: number) {
    this.first = first;
  }

  /** Says that free capacities changed, each between these two. */
  noteChange(above: ProcessorCount, upTo: ProcessorCount): void {
    this.#summaries?.drop(above, upTo);
  }

  /** Says that it has other blocks than before, or begins elsewhere. */
  noteMoved(): void {
    this.#summaries?.clear();
  }

  /** What is known of a slot's widths over its blocks, which end before `to`. Cost: O(1), else O(blocks), and more for those that changed. */
  summarize(slot: number, blocks: readonly SegmentBlock[], to: number): RunSummaries {
    this.#summaries ??= new RunSummaries();
    if (!this.#summaries.has(slot)) this.#compute(this.#summaries, slot, blocks, to);
    return this.#summaries;
  }

  #compute(summaries: RunSummaries, slot: number, blocks: readonly SegmentBlock[], to: number): void {
    let prefixEnd = Infinity;
    let longest = 0;
    let suffixStart = Infinity;
    for (let index = this.first; index < to; index += 1) {
      const block = blocks[index] as SegmentBlock;
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
    summaries.write(slot, { prefixEnd, longest, suffixStart });
  }
}
