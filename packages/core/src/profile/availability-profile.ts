import { invariant, InvariantError } from '../shared/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import { wholeRow } from './block-group.ts';
import { BlockGroups, farMax } from './block-groups.ts';
import { BlockList } from './block-list.ts';
import { FitSearch } from './fit-search.ts';
import { blockMax, SegmentBlock } from './segment-block.ts';

/** A stretch of time over which the free capacity does not change. */
export interface Segment {
  readonly start: Instant;
  /** Later than `start`; Infinity for the last. */
  readonly end: Instant;
  readonly free: ProcessorCount;
}

/**
 * Free capacity as a step function of time, from an instant on and for ever.
 *
 * Neighbouring segments differ in their free capacity, so two profiles of the same function hold the same segments.
 * Segments are
 * kept in blocks of up to `blockMax`, and blocks are summarised in groups of up to `groupMax`; n is the number of
 * segments below,
 * b that of blocks and g that of groups. One flat list would be simpler and as fast for the hundreds of segments of
 * most clusters, but with tens of
 * thousands every change would move half of it and every search read all of it.
 */
export class AvailabilityProfile {
  readonly capacity: ProcessorCount;
  /**
   * In order of time; never empty, and none of them is. Each block's free capacities are in 0..capacity, different from
   * their neighbours.
   */
  #blocks: BlockList;
  #groups: BlockGroups;
  readonly #search = new FitSearch();

  /** All of `capacity` free from `from` on. */
  constructor(capacity: ProcessorCount, from: Instant) {
    invariant(Number.isInteger(capacity) && capacity >= 0, `capacity is ${capacity}; expected a whole number`);
    this.capacity = capacity;
    const first = new SegmentBlock();
    first.starts[0] = from;
    first.free[0] = capacity;
    first.count = 1;
    this.#blocks = new BlockList([first]);
    this.#groups = new BlockGroups(capacity, 1);
  }

  /** The first instant that the profile knows; what was before is forgotten. */
  get from(): Instant {
    return this.#blocks.startOf(0);
  }

  /** Cost: O(b). */
  get segmentCount(): number {
    return this.#blocks.blocks.reduce((sum, { count }) => sum + count, 0);
  }

  /** An independent copy. Cost: O(n). */
  clone(): AvailabilityProfile {
    const copy = new AvailabilityProfile(this.capacity, this.from);
    copy.#blocks = new BlockList(
      this.#blocks.blocks.map((block) => {
        const twin = new SegmentBlock();
        twin.append(block);
        return twin;
      }),
    );
    copy.#groups = new BlockGroups(this.capacity, copy.#blocks.length);
    return copy;
  }

  /** Free capacity at an instant; before `from`, as at `from`. Cost: O(log n). */
  freeAt(at: Instant): ProcessorCount {
    const block = this.#blocks.get(this.#blocks.indexAt(at));
    return block.free[block.indexAt(at)] as ProcessorCount;
  }

  /** The least free capacity in [start, end). Cost: O(log n + segments of the window). */
  minFree(start: Instant, end: Instant): ProcessorCount {
    let least = this.capacity;
    for (const segment of this.segments(start, end)) least = Math.min(least, segment.free);
    return least;
  }

  /** Whether `width` is free for `duration` from `start` on. Cost: as `endOfFree`. */
  fits(width: ProcessorCount, duration: Duration, start: Instant): boolean {
    return this.endOfFree(width, start) >= start + duration;
  }

  /**
   * Until when `width` is free from `from` on: `from` itself where it is not, Infinity for ever. Cost: O(log n +
   * segments until then).
   */
  endOfFree(width: ProcessorCount, from: Instant): Instant {
    let index = this.#blocks.indexAt(from);
    for (let i = this.#blocks.get(index).indexAt(from); index < this.#blocks.length; i = 0, index += 1) {
      const { starts, free, count } = this.#blocks.get(index);
      while (i < count && (free[i] as ProcessorCount) >= width) i += 1;
      if (i < count) return Math.max(from, starts[i] as Instant);
    }
    return Infinity;
  }

  /**
   * The earliest instant, `from` or later, at which `width` is free for `duration`; Infinity when there is none.
   *
   * Cost: O(log n + g / farMax) if no free capacity crossed about the same width since the last search, else O(blockMax
   * + groupMax + farMax) more for each block in which one did.
   * @param duration more than 0.
   * @param until from here on everything counts as free, so that the answer is never later.
   */
  earliestFit(width: ProcessorCount, duration: Duration, from: Instant, until: Instant = Infinity): Instant {
    const begin = Math.max(from, this.from);
    if (begin >= until) return begin;
    if (width > this.capacity) return until;
    const search = this.#search;
    search.begin(width, duration, begin, until);
    let index = this.#blocks.indexAt(begin);
    const first = this.#blocks.get(index);
    const firstSegment = first.indexAt(begin);
    if (firstSegment > 0 && search.scan(first, firstSegment, this.#blocks.findEnd(index))) return search.candidate;
    if (firstSegment > 0) index += 1;
    for (index = this.#pass(search, index); !this.#scan(search, index); index = this.#pass(search, index + 1)) {
      /* On to the next that may hold it. */
    }
    return search.candidate;
  }

  /** Walks from a block on past all that cannot hold the place; returns the first block that may. */
  #pass(search: FitSearch, from: number): number {
    let index = from;
    let group = this.#groups.indexOf(from);
    for (;;) {
      while (this.#passFar(search, group, index)) {
        group += farMax;
        index = this.#groups.get(group).first;
      }
      const groupEnd = this.#groups.findEnd(group);
      if (!this.#passGroup(search, group, index)) {
        while (index < groupEnd && this.#passBlock(search, group, index)) index += 1;
        if (index < groupEnd) return index;
      }
      this.#groups.noteWalked(search.slot, group);
      index = groupEnd;
      group += 1;
    }
  }

  /**
   * Walks past `farMax` groups, if they are a stretch that begins with the block and that others follow, and if it is
   * known that the place is not there.
   */
  #passFar(search: FitSearch, index: number, block: number): boolean {
    if (index % farMax > 0 || index + farMax >= this.#groups.count || this.#groups.get(index).first !== block)
      return false;
    const end = this.#blocks.startOf(this.#groups.get(index + farMax).first);
    if (search.isBounded(end)) return false;
    const row = index / farMax;
    const summaries = this.#groups.findFar(search.slot, row);
    return summaries !== undefined && search.pass(summaries, row, end);
  }

  /** Walks past a group, if it begins with the block and if it is known that the place is not there. */
  #passGroup(search: FitSearch, index: number, block: number): boolean {
    const group = this.#groups.get(index);
    if (group.first !== block) return false;
    const end = this.#blocks.findEnd(this.#groups.findEnd(index) - 1);
    if (search.isBounded(end)) return false;
    const summaries = group.find(search.slot);
    return summaries !== undefined && search.pass(summaries, wholeRow, end);
  }

  /** Walks past a block, if the place is not there. */
  #passBlock(search: FitSearch, index: number, block: number): boolean {
    const end = this.#blocks.findEnd(block);
    if (search.isBounded(end)) return false;
    const group = this.#groups.get(index);
    return search.pass(group.summarizeBlock(search.slot, block, this.#blocks.get(block)), group.rowOf(block), end);
  }

  /** Walks segment by segment from the candidate to the end of a block; true when the place is found. */
  #scan(search: FitSearch, last: number): boolean {
    const first = Math.min(last, this.#blocks.indexAt(search.candidate));
    let i = this.#blocks.get(first).indexAt(search.candidate);
    for (let index = first; index <= last; index += 1) {
      if (search.scan(this.#blocks.get(index), i, this.#blocks.findEnd(index))) return true;
      i = 0;
    }
    return false;
  }

  /**
   * Takes `width` in [start, end). Cost: O(log n + segments of the window). @throws {InvariantError} when it is not
   * free.
   */
  reserve(width: ProcessorCount, start: Instant, end: Instant): void {
    this.#add(-width, start, end);
  }

  /**
   * Gives `width` back in [start, end). Cost: O(log n + segments of the window). @throws {InvariantError} when it was
   * free.
   */
  release(width: ProcessorCount, start: Instant, end: Instant): void {
    this.#add(width, start, end);
  }

  /** Ends at `earlyEnd` what was reserved until `end`; nothing changes when that is not early. Cost: as `release`. */
  shorten(width: ProcessorCount, earlyEnd: Instant, end: Instant): void {
    if (earlyEnd < end) this.release(width, earlyEnd, end);
  }

  /** Forgets the function before `at`, so that a long life does not fill the memory. Cost: O(log n). */
  forget(at: Instant): void {
    if (at <= this.from) return;
    const index = this.#blocks.indexAt(at);
    if (index > 0) {
      this.#blocks.remove(0, index);
      this.#groups.noteForgotten(index);
    }
    const block = this.#blocks.get(0);
    const kept = block.indexAt(at);
    if (kept > 0) block.remove(0, kept);
    block.starts[0] = at;
    this.#blocks.noteStart(0);
    // Summaries of the first stretches stay: of the remaining ones they are at most too good.
  }

  /** The segments that overlap [from, until), whole and in order. Cost: O(log n) and O(1) each. */
  *segments(from: Instant = this.from, until: Instant = Infinity): Generator<Segment> {
    let i = this.#blocks.get(this.#blocks.indexAt(from)).indexAt(from);
    for (let index = this.#blocks.indexAt(from); index < this.#blocks.length; index += 1) {
      const block = this.#blocks.get(index);
      for (; i < block.count; i += 1) {
        const start = block.starts[i] as Instant;
        if (start >= until) return;
        const end = i + 1 < block.count ? (block.starts[i + 1] as Instant) : this.#blocks.findEnd(index);
        yield { start, end, free: block.free[i] as ProcessorCount };
      }
      i = 0;
    }
  }

  #add(change: number, start: Instant, end: Instant): void {
    const clipped = Math.max(start, this.from);
    if (change === 0 || end <= clipped) return;
    if (end < Infinity) this.#splitAt(end);
    const first = this.#splitAt(clipped);
    const firstSegment = this.#blocks.get(first).indexAt(clipped);
    let index = first;
    let past = this.#addInBlock(index, firstSegment, change, end);
    while (past === this.#blocks.get(index).count && index + 1 < this.#blocks.length) {
      index += 1;
      past = this.#addInBlock(index, 0, change, end);
    }
    // Inside the window neighbours keep their differences; only its two edges can have become equal.
    if (past < this.#blocks.get(index).count) this.#joinAt(index, past);
    this.#joinAt(first, firstSegment);
  }

  /** Changes the segments from `from` on that begin before `end`; returns the index of the first that does not. */
  #addInBlock(index: number, from: number, change: number, end: Instant): number {
    const block = this.#blocks.get(index);
    const { starts, free, count } = block;
    let least = this.capacity;
    let most = 0;
    let i = from;
    for (; i < count && (starts[i] as Instant) < end; i += 1) {
      const left = (free[i] as ProcessorCount) + change;
      // Unlike a call of invariant, this makes no text where all is well.
      if (left < 0 || left > this.capacity)
        throw new InvariantError(`${left} of ${this.capacity} processors free at ${starts[i]}`);
      free[i] = left;
      if (left < least) least = left;
      if (left > most) most = left;
    }
    this.#groups.noteChange(index, least - Math.max(0, change), most - Math.min(0, change));
    return i;
  }

  /** Makes `at` a breakpoint and returns the index of the block that holds it. */
  #splitAt(at: Instant): number {
    const index = this.#blocks.indexAt(at);
    const block = this.#blocks.get(index);
    const i = block.indexAt(at);
    if (block.starts[i] === at) return index;
    if (block.count < blockMax) {
      block.cut(i, at);
      return index;
    }
    const half = blockMax >>> 1;
    const tail = block.split(half);
    this.#blocks.insert(index + 1, tail);
    this.#groups.noteCut(index);
    if (i < half) block.cut(i, at);
    else tail.cut(i - half, at);
    return i < half ? index : index + 1;
  }

  /**
   * Takes out the breakpoint before a segment if nothing changes there, and joins its block with the next when both are
   * small.
   */
  #joinAt(index: number, i: number): void {
    const block = this.#blocks.get(index);
    const before = i > 0 ? block.free[i - 1] : this.#lastFreeOf(index - 1);
    if (before !== block.free[i]) return;
    block.remove(i, 1);
    if (block.count === 0) {
      this.#blocks.remove(index, 1);
      this.#groups.noteJoined(index);
      return;
    }
    if (i === 0) {
      this.#blocks.noteStart(index);
      this.#groups.noteStartMoved(index);
    }
    if (index + 1 === this.#blocks.length) return;
    const next = this.#blocks.get(index + 1);
    if (block.count + next.count > blockMax >>> 1) return;
    block.append(next);
    this.#blocks.remove(index + 1, 1);
    this.#groups.noteJoined(index + 1);
  }

  #lastFreeOf(index: number): ProcessorCount | undefined {
    if (index < 0) return undefined;
    const block = this.#blocks.get(index);
    return block.free[block.count - 1];
  }
}
