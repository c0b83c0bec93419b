import { invariant } from '../shared/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

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
 * Neighbouring segments differ in their free capacity, so two profiles of the same function hold the same segments. n is the
 * number of segments below; moving array tails is counted as one step, since it is a memory move.
 */
export class AvailabilityProfile {
  readonly capacity: ProcessorCount;
  /** Segment i is [#starts[i], #starts[i + 1]), the last one endless. Ascending, never empty. */
  #starts: Instant[];
  /** In 0..capacity, different from both neighbours. */
  #free: ProcessorCount[];

  /** All of `capacity` free from `from` on. */
  constructor(capacity: ProcessorCount, from: Instant) {
    invariant(Number.isInteger(capacity) && capacity >= 0, `capacity is ${capacity}; want a whole number`);
    this.capacity = capacity;
    this.#starts = [from];
    this.#free = [capacity];
  }

  /** The first instant that the profile knows; what was before is forgotten. */
  get from(): Instant {
    return this.#startOf(0);
  }

  get segmentCount(): number {
    return this.#starts.length;
  }

  /** An independent copy. Cost: O(n). */
  clone(): AvailabilityProfile {
    const copy = new AvailabilityProfile(this.capacity, this.from);
    copy.#starts = this.#starts.slice();
    copy.#free = this.#free.slice();
    return copy;
  }

  /** Free capacity at an instant; before `from`, as at `from`. Cost: O(log n). */
  freeAt(at: Instant): ProcessorCount {
    return this.#freeOf(this.#indexAt(at));
  }

  /** The least free capacity in [start, end). Cost: O(log n + segments of the window). */
  minFree(start: Instant, end: Instant): ProcessorCount {
    let least = this.capacity;
    for (let i = this.#indexAt(start); i < this.#starts.length && this.#startOf(i) < end; i += 1) {
      least = Math.min(least, this.#freeOf(i));
    }
    return least;
  }

  /** Whether `width` is free for `duration` from `start` on. Cost: O(log n + segments of the window). */
  fits(width: ProcessorCount, duration: Duration, start: Instant): boolean {
    return this.minFree(start, start + duration) >= width;
  }

  /**
   * The earliest instant, `from` or later, at which `width` is free for `duration`; Infinity when there is none.
   *
   * Cost: O(log n + segments between `from` and the end of what is found).
   */
  earliestFit(width: ProcessorCount, duration: Duration, from: Instant): Instant {
    if (width > this.capacity) return Infinity;
    let candidate = Math.max(from, this.from);
    for (let i = this.#indexAt(candidate); i < this.#starts.length; i += 1) {
      const end = this.#endOf(i);
      if (this.#freeOf(i) < width) candidate = end;
      else if (end - candidate >= duration) return candidate;
    }
    return Infinity;
  }

  /** Takes `width` in [start, end). Cost: O(log n + segments of the window). @throws {InvariantError} when it is not free. */
  reserve(width: ProcessorCount, start: Instant, end: Instant): void {
    this.#add(-width, start, end);
  }

  /** Gives `width` back in [start, end). Cost: O(log n + segments of the window). @throws {InvariantError} when it was free. */
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
    const kept = this.#indexAt(at);
    this.#starts.splice(0, kept);
    this.#free.splice(0, kept);
    this.#starts[0] = at;
  }

  /** The segments that overlap [from, until), whole and in order. Cost: O(log n) and O(1) each. */
  *segments(from: Instant = this.from, until: Instant = Infinity): Generator<Segment> {
    for (let i = this.#indexAt(from); i < this.#starts.length && this.#startOf(i) < until; i += 1) {
      yield { start: this.#startOf(i), end: this.#endOf(i), free: this.#freeOf(i) };
    }
  }

  #add(change: number, start: Instant, end: Instant): void {
    const clipped = Math.max(start, this.from);
    if (change === 0 || end <= clipped) return;
    const first = this.#splitAt(clipped);
    const past = end === Infinity ? this.#starts.length : this.#splitAt(end);
    for (let i = first; i < past; i += 1) {
      const free = this.#freeOf(i) + change;
      invariant(free >= 0 && free <= this.capacity, `${free} of ${this.capacity} processors free at ${this.#startOf(i)}`);
      this.#free[i] = free;
    }
    // Inside the window neighbours keep their differences; only its two edges can have become equal.
    this.#joinAt(past);
    this.#joinAt(first);
  }

  /** Makes `at` a breakpoint and returns the index of the segment that begins there. */
  #splitAt(at: Instant): number {
    const index = this.#indexAt(at);
    if (this.#startOf(index) === at) return index;
    this.#starts.splice(index + 1, 0, at);
    this.#free.splice(index + 1, 0, this.#freeOf(index));
    return index + 1;
  }

  /** Takes out the breakpoint before segment `index` if nothing changes there. */
  #joinAt(index: number): void {
    if (index === 0 || index >= this.#starts.length || this.#free[index] !== this.#free[index - 1]) return;
    this.#starts.splice(index, 1);
    this.#free.splice(index, 1);
  }

  /** The segment that holds `at`; the first for anything earlier. */
  #indexAt(at: Instant): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#startOf(middle) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #startOf(index: number): Instant {
    return this.#starts[index] as Instant;
  }

  #endOf(index: number): Instant {
    return this.#starts[index + 1] ?? Infinity;
  }

  #freeOf(index: number): ProcessorCount {
    return this.#free[index] as ProcessorCount;
  }
}
