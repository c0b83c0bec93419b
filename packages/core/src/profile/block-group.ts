import type { ProcessorCount } from '../shared/index.ts';
import { getNarrowest, RunSum, RunSummaries } from './run-summaries.ts';
import type { SegmentBlock } from './segment-block.ts';

/** Blocks that a group has at most. */
export const groupMax = 12;

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

  /** Summaries of a slot's widths for the whole group; undefined without any. Cost: O(1). */
  find(slot: number): RunSummaries | undefined {
    return this.#summaries?.has(slot, wholeRow) === true ? this.#summaries : undefined;
  }

  /** Sums up what is known of its blocks, which end before `to`, if it is known of each. Cost: O(blocks). */
  sumUp(slot: number, to: number): void {
    const summaries = this.#summaries;
    if (summaries === undefined) return;
    const sum = new RunSum();
    for (let row = 1; row <= to - this.first; row += 1) {
      if (!summaries.has(slot, row)) return;
      sum.add(summaries, slot, row);
    }
    summaries.write(slot, wholeRow, sum);
  }

  /** What is known of a slot's widths, for one block as well. Cost: O(1), else O(blockMax). */
  summarizeBlock(slot: number, index: number, block: SegmentBlock): RunSummaries {
    const summaries = (this.#summaries ??= new RunSummaries(this.#widthMax, groupMax + 2));
    const row = this.rowOf(index);
    if (!summaries.has(slot, row)) summaries.write(slot, row, block.summarize(getNarrowest(slot)));
    return summaries;
  }
}
