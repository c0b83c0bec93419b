import type { ProcessorCount } from '../shared/index.ts';
import { BlockGroup, groupMax } from './block-group.ts';

/**
 * Which blocks of a profile are summarised together: all of them, in groups of 1 to `groupMax` neighbours.
 *
 * Groups have no fixed size, so that a block that comes or goes changes one of them: with a fixed size all behind it would have other
 * blocks than before, and the summaries of a long profile would be made anew at every turn. G is the number of groups.
 */
export class BlockGroups {
  /** In order, the first one's `first` being 0; each other's is greater than that of the one before. */
  readonly #groups: BlockGroup[] = [];
  readonly #widthMax: ProcessorCount;
  /** Of all groups together. */
  #blockCount: number;

  /** @param widthMax the widest that is asked about. */
  constructor(widthMax: ProcessorCount, blockCount: number) {
    this.#widthMax = widthMax;
    this.#blockCount = blockCount;
    for (let first = 0; first < blockCount; first += groupMax >>> 1) this.#groups.push(new BlockGroup(widthMax, first));
  }

  /** The group at an index; it is there. */
  get(index: number): BlockGroup {
    return this.#groups[index] as BlockGroup;
  }

  /** Where the blocks of a group end. */
  endOf(index: number): number {
    return this.#groups[index + 1]?.first ?? this.#blockCount;
  }

  /** The group that a block is in. Cost: O(log G). */
  indexOf(block: number): number {
    let low = 0;
    let high = this.#groups.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#groups[middle] as BlockGroup).first <= block) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Says that free capacities changed in a block, each between these two. Cost: O(log G). */
  noteChange(block: number, above: ProcessorCount, upTo: ProcessorCount): void {
    this.get(this.indexOf(block)).noteChange(block, above, upTo);
  }

  /** Says that a block begins later than before, and the last segment of the one before it, if there is one, ends later. Cost: O(log G). */
  noteStartMoved(block: number): void {
    const group = this.get(this.indexOf(block));
    group.noteBlockMoved(block);
    if (group.first === block) group.noteMoved();
  }

  /** Says that a block was cut in two; its second half is the next one. Cost: O(G + groupMax). */
  noteCut(block: number): void {
    const index = this.indexOf(block);
    const group = this.get(index);
    group.noteBlockMoved(block);
    group.insertRow(block + 1);
    this.#shift(index + 1, 1);
    if (this.endOf(index) - group.first <= groupMax) return;
    group.noteMoved();
    this.#groups.splice(index + 1, 0, new BlockGroup(this.#widthMax, group.first + (groupMax >>> 1)));
  }

  /** Says that a block went into the one before it. Cost: O(G + groupMax). */
  noteJoined(block: number): void {
    const index = this.indexOf(block);
    const group = this.get(index);
    const before = this.get(this.indexOf(block - 1));
    before.noteBlockMoved(block - 1);
    if (before !== group) {
      before.noteMoved();
      group.noteMoved();
    }
    group.removeRows(block, 1);
    this.#shift(index + 1, -1);
    if (this.endOf(index) === group.first) this.#groups.splice(index, 1);
  }

  /** Says that the first `count` blocks went. Cost: O(G + groupMax). */
  noteForgotten(count: number): void {
    const index = this.indexOf(count);
    this.#groups.splice(0, index);
    const group = this.get(0);
    group.removeRows(group.first, count - group.first);
    group.noteMoved();
    this.#shift(0, -count);
    group.first = 0;
  }

  /** Moves the groups from `from` on by so many blocks. */
  #shift(from: number, by: number): void {
    for (let index = from; index < this.#groups.length; index += 1) this.get(index).first += by;
    this.#blockCount += by;
  }
}
