import type { ProcessorCount } from '../shared/index.ts';
import { BlockGroup, groupMax, wholeRow } from './block-group.ts';
import { RunSum, RunSummaries } from './run-summaries.ts';

/** Groups that are summarised together once more. */
export const farMax = 8;

/**
 * Which blocks of a profile are summarised together: all of them, in groups of 1 to `groupMax` neighbours.
 *
 * Groups have no fixed size, so that a block that comes or goes changes one of them: with a fixed size all behind it
 * would have other
 * blocks than before, and the summaries of a long profile would be made again at every turn. Of the groups, which come
 * and go far less
 * often, each `farMax` from the first on are a stretch that is summarised as well. G is the number of groups.
 */
export class BlockGroups {
  /** In order, the first one's `first` being 0; each other's is greater than that of the one before. */
  readonly #groups: BlockGroup[] = [];
  readonly #widthMax: ProcessorCount;
  /** A row for each stretch of `farMax` groups; undefined until it is asked for, and when groups came or went. */
  #far: RunSummaries | undefined;
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
  findEnd(index: number): number {
    return this.#groups[index + 1]?.first ?? this.#blockCount;
  }

  /** How many groups there are. */
  get count(): number {
    return this.#groups.length;
  }

  /** Summaries of a slot's widths over the stretch of `farMax` groups in its row; undefined without any. Cost: O(1). */
  findFar(slot: number, row: number): RunSummaries | undefined {
    return this.#far?.has(slot, row) === true ? this.#far : undefined;
  }

  /**
   * Sums up a group that a walk has left, and the stretch of groups that it left with it, if each part of them is
   * known. Cost: O(groupMax + farMax).
   */
  noteWalked(slot: number, index: number): void {
    const group = this.get(index);
    if (group.find(slot) === undefined) group.sumUp(slot, this.findEnd(index));
    if ((index + 1) % farMax === 0 && this.findFar(slot, Math.floor(index / farMax)) === undefined)
      this.#sumUpFar(slot, Math.floor(index / farMax));
  }

  #sumUpFar(slot: number, row: number): void {
    const sum = new RunSum();
    for (let index = row * farMax; index < (row + 1) * farMax; index += 1) {
      const summaries = this.get(index).find(slot);
      if (summaries === undefined) return;
      sum.add(summaries, slot, wholeRow);
    }
    this.#far ??= new RunSummaries(this.#widthMax, Math.ceil(this.#groups.length / farMax));
    this.#far.write(slot, row, sum);
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
    const index = this.indexOf(block);
    this.get(index).noteChange(block, above, upTo);
    this.#far?.drop(Math.floor(index / farMax), above, upTo);
  }

  /**
   * Says that a block begins later than before, and the last segment of the one before it, if there is one, ends later.
   * Cost: O(log G).
   */
  noteStartMoved(block: number): void {
    const index = this.indexOf(block);
    const group = this.get(index);
    group.noteBlockMoved(block);
    if (group.first !== block) return;
    group.noteMoved();
    this.#far?.clear(Math.floor(index / farMax));
  }

  /** Says that a block was cut in two; its second half is the next one. Cost: O(G + groupMax). */
  noteCut(block: number): void {
    const index = this.indexOf(block);
    const group = this.get(index);
    group.noteBlockMoved(block);
    group.insertRow(block + 1);
    this.#shift(index + 1, 1);
    if (this.findEnd(index) - group.first <= groupMax) return;
    group.noteMoved();
    this.#far = undefined;
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
      this.#far = undefined;
    }
    group.removeRows(block, 1);
    this.#shift(index + 1, -1);
    if (this.findEnd(index) === group.first) this.#groups.splice(index, 1);
  }

  /**
   * Says that the first `count` blocks went; what is known of their group stays, since it is at most too good. Cost:
   * O(G + groupMax).
   */
  noteForgotten(count: number): void {
    const index = this.indexOf(count);
    if (index > 0) this.#far = undefined;
    this.#groups.splice(0, index);
    const group = this.get(0);
    group.removeRows(group.first, count - group.first);
    this.#shift(0, -count);
    group.first = 0;
  }

  /** Moves the groups from `from` on by `by` blocks. */
  #shift(from: number, by: number): void {
    for (let index = from; index < this.#groups.length; index += 1) this.get(index).first += by;
    this.#blockCount += by;
  }
}
