import type { Hole, FreeTime } from '../../profile/index.ts';
import type { Duration, ProcessorCount } from '../../shared/index.ts';

/** Which holes are wanted. */
export interface HoleSpec {
  /** Widths are multiples of it. */
  readonly unit: ProcessorCount;
  readonly widthMax: ProcessorCount;
  readonly extentMax: Duration;
  /** Only those that begin by then; asked before each beginning. */
  until(): Duration;
}

/**
 * What is free from now on, as a step function of the time from now, from which requests are taken and to which they
 * are given back.
 */
export class Skyline {
  /** Ascending, the first is 0. */
  readonly #starts: Duration[];
  /** What is free from the start of the same index on; from the last one for ever. */
  readonly #free: ProcessorCount[];

  private constructor(starts: Duration[], free: ProcessorCount[]) {
    this.#starts = starts;
    this.#free = free;
  }

  /** Cost: O(segments). */
  static of(free: FreeTime): Skyline {
    const now = free.startOf(free.first);
    const starts: Duration[] = [];
    const widths: ProcessorCount[] = [];
    for (let at = free.first; at >= 0; at = free.getNext(at)) {
      starts.push(free.startOf(at) - now);
      widths.push(free.freeOf(at));
    }
    return new Skyline(starts, widths);
  }

  /** What is free now. */
  get freeNow(): ProcessorCount {
    return this.#free[0] as number;
  }

  /**
   * The same with `width` more in each of some windows; what is more than there is at all does no harm. Cost:
   * O(segments) each.
   */
  with(
    windows: readonly { readonly start: Duration; readonly end: Duration; readonly width: ProcessorCount }[],
  ): Skyline {
    const copy = new Skyline([...this.#starts], [...this.#free]);
    for (const { start, end, width } of windows) copy.#add(width, start, end);
    return copy;
  }

  /** The same with `width` less in a window; never below 0. Cost: O(segments). */
  without(start: Duration, end: Duration, width: ProcessorCount): Skyline {
    return this.with([{ start, end, width: -width }]);
  }

  #add(change: number, start: Duration, end: Duration): void {
    if (end <= start) return;
    const from = this.#splitAt(start);
    const to = this.#splitAt(end);
    for (let i = from; i < to; i += 1) this.#free[i] = Math.max(0, (this.#free[i] as number) + change);
  }

  #splitAt(at: Duration): number {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] as number) < at) low = middle + 1;
      else high = middle;
    }
    if (this.#starts[low] !== at) {
      this.#starts.splice(low, 0, at);
      this.#free.splice(low, 0, this.#free[low - 1] as number);
    }
    return low;
  }

  /**
   * The first instant from which `width` is free for `extent`, from now; that from which nothing changes any more, if
   * it is never. Cost: O(segments).
   */
  findEarliest(width: ProcessorCount, extent: Duration): Duration {
    let place = 0;
    for (let i = 0; i < this.#starts.length; i += 1) {
      if ((this.#starts[i] as number) - place >= extent) return place;
      if ((this.#free[i] as number) < width) place = this.#starts[i + 1] ?? (this.#starts[i] as number);
    }
    return place;
  }

  /**
   * Visits the maximal holes: rectangles that could not begin earlier, last longer or be wider within what is
   * requested. In the order of their beginnings, those that begin together the widest first. Cost: O(segments x
   * segments of a hole).
   */
  visitHoles({ unit, widthMax, extentMax, until }: HoleSpec, visit: (hole: Hole) => void): void {
    const unitsMax = Math.floor(widthMax / unit);
    let before = 0;
    for (let i = 0; i < this.#starts.length && (this.#starts[i] as number) <= until(); i += 1) {
      const units = Math.min(unitsMax, Math.floor((this.#free[i] as number) / unit));
      if (units > before) this.#visitFrom(i, { units, before, unit, extentMax }, visit);
      before = units;
    }
  }

  /** Those that begin at a breakpoint and are wider than what could begin before it. */
  #visitFrom(
    index: number,
    { units: widest, before, unit, extentMax }: { units: number; before: number; unit: number; extentMax: Duration },
    visit: (hole: Hole) => void,
  ): void {
    const start = this.#starts[index] as number;
    let units = widest;
    for (let i = index + 1; units > before; i += 1) {
      const extent = (this.#starts[i] ?? Infinity) - start;
      if (extent >= extentMax) return visit({ start, width: units * unit, extent: extentMax });
      const next = Math.floor((this.#free[i] as number) / unit);
      if (next >= units) continue;
      visit({ start, width: units * unit, extent });
      units = next;
    }
  }
}
