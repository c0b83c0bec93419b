import type { AvailabilityProfile } from './availability-profile.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/** Answers whether the walk goes on; `extent` is how long `width` processors are free. */
export type VisitRectangle = (width: ProcessorCount, extent: Duration) => boolean;

/** A rectangle of free processors. */
export interface Hole {
  readonly start: Instant;
  readonly width: ProcessorCount;
  /** How long it lasts; the bound where it lasts longer. */
  readonly extent: Duration;
}

/** Which holes are wanted. */
export interface HoleBounds {
  /** Widths are multiples of it, 1 or more. */
  readonly unit: ProcessorCount;
  readonly widthMax: ProcessorCount;
  readonly extentMax: Duration;
  /** Only those that begin before. */
  readonly until: Instant;
}

/**
 * A copy of the availability profile from which rectangles are cut in the order of time.
 *
 * A linked list of segments: cutting walks over the segments of the window, which were walked over to find the
 * rectangle, and moves
 * nothing. A segment is named by its index; no breakpoint vanishes while rectangles are cut, and cutting adds one at
 * most.
 */
export class FreeTime {
  /** The beginning of each segment; the list runs through `#next`, the indices are in no order. */
  readonly #starts: number[] = [];
  readonly #free: number[] = [];
  /** The segment that follows; -1 after the last, which is endless. */
  readonly #next: number[] = [];
  /** The endless segment. */
  #last: number;

  /** Segments in the order of time, the first from now on, the last endless. Cost: O(segments). */
  constructor(starts: readonly Instant[], free: readonly ProcessorCount[]) {
    for (let i = 0; i < starts.length; i += 1) {
      this.#starts.push(starts[i] as number);
      this.#free.push(free[i] as number);
      this.#next.push(i + 1);
    }
    this.#next[starts.length - 1] = -1;
    this.#last = starts.length - 1;
  }

  /** What a profile says from `now` on. Cost: O(segments). */
  static ofProfile(profile: AvailabilityProfile, now: Instant): FreeTime {
    const starts: Instant[] = [];
    const free: ProcessorCount[] = [];
    for (const segment of profile.segments(now)) {
      starts.push(Math.max(segment.start, now));
      free.push(segment.free);
    }
    return new FreeTime(starts, free);
  }

  /** The segment that begins now. */
  get first(): number {
    return 0;
  }

  /** The instant from which on nothing changes: the end of the queue, before holes are cut. */
  get end(): Instant {
    return this.startOf(this.#last);
  }

  /** The segment after this one; -1 after the last. */
  getNext(index: number): number {
    return this.#next[index] as number;
  }

  startOf(index: number): Instant {
    return this.#starts[index] as number;
  }

  freeOf(index: number): ProcessorCount {
    return this.#free[index] as number;
  }

  /**
   * Visits the rectangles that begin with a segment, the widest first: for each width of at most `widthMax`, the
   * longest extent,
   * cut at `extentMax`. Cost: O(segments of the longest that is visited).
   */
  visitRectangles(index: number, widthMax: ProcessorCount, extentMax: Duration, visit: VisitRectangle): void {
    const start = this.startOf(index);
    let width = Math.min(widthMax, this.freeOf(index));
    for (let at = this.getNext(index); width > 0; at = this.getNext(at)) {
      const extent = at < 0 ? Infinity : this.startOf(at) - start;
      if (extent >= extentMax) {
        visit(width, extentMax);
        return;
      }
      const free = this.freeOf(at);
      if (free >= width) continue;
      if (!visit(width, extent)) return;
      width = free;
    }
  }

  /**
   * The maximal holes: rectangles that could not begin earlier, last longer or be wider within the bounds. In the order
   * of their
   * beginnings, those that begin together the widest first. Cost: O(segments x segments of a hole).
   */
  *maximalHoles({ unit, widthMax, extentMax, until }: HoleBounds): Generator<Hole> {
    let unitsBefore = 0;
    for (let at = this.first; at >= 0 && this.startOf(at) < until; at = this.getNext(at)) {
      const before = unitsBefore;
      const byUnits = new Map<number, Hole>();
      this.visitRectangles(at, widthMax, extentMax, (width, extent) => {
        const units = Math.floor(width / unit);
        if (units <= before) return false; // It could begin earlier, and so could all that are narrower.
        // In place of one that could last longer.
        byUnits.set(units, { start: this.startOf(at), width: units * unit, extent });
        return true;
      });
      yield* byUnits.values();
      unitsBefore = Math.floor(this.freeOf(at) / unit);
    }
  }

  /**
   * The first segment, not before the given one, from which `width` is free for `extent`. Cost: O(segments up to its
   * end).
   */
  findEarliest(width: ProcessorCount, extent: Duration, from: number): number {
    let place = from;
    let at = from;
    for (let next = this.getNext(at); next >= 0; next = this.getNext(at)) {
      if (this.freeOf(at) < width) place = next;
      else if (this.startOf(next) - this.startOf(place) >= extent) return place;
      at = next;
    }
    return place;
  }

  /** The widest that is free for `extent` from the beginning of a segment on. Cost: O(segments of the extent). */
  widestFor(index: number, extent: Duration): ProcessorCount {
    const end = this.startOf(index) + extent;
    let widest = Infinity;
    for (let at = index; at >= 0 && this.startOf(at) < end; at = this.getNext(at))
      widest = Math.min(widest, this.freeOf(at));
    return widest;
  }

  /**
   * How long `width` is free from the beginning of a segment on, `extentMax` at most. Cost: O(segments of the extent).
   */
  getExtent(index: number, width: ProcessorCount, extentMax: Duration): Duration {
    const start = this.startOf(index);
    for (let at = index; at >= 0 && this.startOf(at) - start < extentMax; at = this.getNext(at)) {
      if (this.freeOf(at) < width) return this.startOf(at) - start;
    }
    return extentMax;
  }

  /**
   * Takes `width` for `extent` from the beginning of a segment on; it must be free. Answers with the segment that it
   * made at the
   * end, -1 where there was a breakpoint. Cost: O(segments of the extent).
   */
  cut(index: number, width: ProcessorCount, extent: Duration): number {
    const end = this.startOf(index) + extent;
    const countBefore = this.#starts.length;
    for (let at = index; at >= 0 && this.startOf(at) < end; at = this.getNext(at)) {
      const next = this.getNext(at);
      if (next < 0 || this.startOf(next) > end) this.#splitAfter(at, end);
      this.#free[at] = this.freeOf(at) - width;
    }
    return this.#starts.length > countBefore ? countBefore : -1;
  }

  /** Drops the breakpoints at which nothing changes, as a profile has none. Cost: O(segments). */
  joinEqual(): void {
    for (let at = this.first; at >= 0; at = this.getNext(at)) {
      let next = this.getNext(at);
      while (next >= 0 && this.freeOf(next) === this.freeOf(at)) next = this.getNext(next);
      this.#next[at] = next;
      if (next < 0) this.#last = at;
    }
  }

  #splitAfter(index: number, at: Instant): void {
    this.#starts.push(at);
    this.#free.push(this.freeOf(index));
    this.#next.push(this.getNext(index));
    this.#next[index] = this.#starts.length - 1;
    if (index === this.#last) this.#last = this.#starts.length - 1;
  }
}
