import type { ProcessorCount } from '../shared/index.ts';
import { narrowestOf, RunSummaries } from './run-summaries.ts';
import type { SegmentBlock } from './segment-block.ts';

/** Blocks that a group has at most. */
export const groupMax = 16;

/** The row of the group as a whole; the block at index i in the group has the row i + 1. */
export const wholeRow = 0;

/** What is known of blocks that follow one another and are summarised together; it does not hold them. */
export class BlockGroup {
  readonly #widthMax: ProcessorCount;
  /** The index of its first block among those of the profile. */
  first: number;
  /** Made when they are first asked for: a short profile never does. */
  #summaries: RunSummaries | undefined;

  /** @param widthMax the widest that is asked about. */
  constructor(widthMax: ProcessorCount, first: number) {
    this.#widthMax = widthMax;
    this.first = first;
  }

  /** The row of one of its blocks. */
  rowOf(block: number): number {
    return block - this.first + 1;
  }

  /** Says that free capacities changed in a block, each between these two. */
  noteChange(block: number, above: ProcessorCount, upTo: ProcessorCount): void {
    this.#summaries?.drop(wholeRow, above, upTo);
    this.#summaries?.drop(this.rowOf(block), above, upTo);
  }

  /** Says that a block has other segments than before. */
  noteBlockMoved(block: number): void {
    this.#summaries?.clear(this.rowOf(block));
  }

  /** Says that it has other blocks than before, or begins elsewhere. */
  noteMoved(): void {
    this.#summaries?.clear(wholeRow);
  }

  /** Makes a row for a block that came. */
  insertRow(block: number): void {
    this.#summaries?.move(this.rowOf(block), this.rowOf(block) + 1);
    this.#summaries?.clear(this.rowOf(block));
  }

  /** Takes away the rows of `count` blocks that go. */
  removeRows(block: number, count: number): void {
    this.#summaries?.move(this.rowOf(block) + count, this.rowOf(block));
  }

  /** What is known of a slot's widths, for the whole group as well; its blocks end before `to`. Cost: O(1), else O(blocks), and more for those that changed. */
  summarize(slot: number, blocks: readonly SegmentBlock[], to: number): RunSummaries {
    const summaries = (this.#summaries ??= new RunSummaries(this.#widthMax, groupMax + 2));
    if (!summaries.has(slot, wholeRow)) this.#compute(summaries, slot, blocks, to);
    return summaries;
  }

  /** What is known of a slot's widths, for one block as well. Cost: O(1), else O(blockMax). */
  summarizeBlock(slot: number, index: number, block: SegmentBlock): RunSummaries {
    const summaries = (this.#summaries ??= new RunSummaries(this.#widthMax, groupMax + 2));
    const row = this.rowOf(index);
    if (!summaries.has(slot, row)) summaries.write(slot, row, block.summarize(narrowestOf(slot)));
    return summaries;
  }

  #compute(summaries: RunSummaries, slot: number, blocks: readonly SegmentBlock[], to: number): void {
    let prefixEnd = Infinity;
    let longest = 0;
    let suffixStart = Infinity;
    for (let index = this.first; index < to; index += 1) {
      const row = this.rowOf(index);
      if (!summaries.has(slot, row)) summaries.write(slot, row, (blocks[index] as SegmentBlock).summarize(narrowestOf(slot)));
      const innerEnd = summaries.prefixEnd(slot, row);
      if (innerEnd === Infinity) {
        if (suffixStart === Infinity) suffixStart = summaries.suffixStart(slot, row);
        continue;
      }
      if (prefixEnd === Infinity) prefixEnd = innerEnd;
      // A run that begins with this block is among the block's own.
      if (suffixStart < innerEnd) longest = Math.max(longest, innerEnd - suffixStart);
      longest = Math.max(longest, summaries.longest(slot, row));
      suffixStart = summaries.suffixStart(slot, row);
    }
    summaries.write(slot, wholeRow, { prefixEnd, longest, suffixStart });
  }
}
