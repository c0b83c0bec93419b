import type { Duration, Instant } from '../shared/index.ts';
import { leafWidth, LoadedRows, OrderedTree, type TreeNode } from '../shared/ordered-tree.ts';

/** A stretch of time over which what is used does not change. */
export interface UsedSlot {
  /** -Infinity for the first. */
  readonly start: Instant;
  /** Infinity for the last. */
  readonly end: Instant;
  readonly used: number;
}

/** Windows in which an amount is used, in columns, sorted by start; each ends. */
export type Windows = Readonly<Record<'starts' | 'ends' | 'amounts', Float64Array>>;

/**
 * How much of a capacity is used, as a step function of time: a profile for windows that cover thousands of segments.
 *
 * `AvailabilityProfile` changes each segment of a window, which is best where a window covers a few. Here a window
 * changes two rows, the
 * differences at its ends, and each node of a tree knows the greatest sum that its differences reach: so a change costs
 * O(log n), and so
 * does finding the last place in a window where too much is used. Sums are of whole numbers and exact up to 2^53.
 */
export class LongProfile extends OrderedTree {
  /** What was before is forgotten. */
  #from: Instant = -Infinity;

  /** Adds `amount` to what is used in [start, end); a negative amount frees it. Cost: O(log n). */
  add(amount: number, start: Instant, end: Instant): void {
    const begin = Math.max(start, this.#from);
    if (end <= begin || amount === 0) return;
    this.#change(begin, amount);
    if (end < Infinity) this.#change(end, -amount);
  }

  /** Replaces all windows by many new ones at once. @param byEnd their indices in order of their ends. Cost: O(n). */
  loadWindows({ starts, ends, amounts }: Windows, byEnd: Uint32Array): void {
    const rows = new LoadedRows(2 * starts.length);
    let instant = -Infinity;
    let sum = 0;
    const note = (at: Instant, change: number): void => {
      if (at !== instant) {
        // A breakpoint at which nothing changes is none.
        if (sum !== 0) rows.push(instant, 0, sum);
        instant = at;
        sum = 0;
      }
      sum += change;
    };
    let ended = 0;
    const noteEndsUpTo = (at: Instant): void => {
      for (; ended < byEnd.length; ended += 1) {
        const window = byEnd[ended] as number;
        if ((ends[window] as number) > at) return;
        note(ends[window] as number, -(amounts[window] as number));
      }
    };
    for (let window = 0; window < starts.length; window += 1) {
      noteEndsUpTo(starts[window] as number);
      note(starts[window] as number, amounts[window] as number);
    }
    noteEndsUpTo(Infinity);
    if (sum !== 0) rows.push(instant, 0, sum);
    this.load(rows);
  }

  /** What is used at an instant. Cost: O(log n). */
  usedAt(at: Instant): number {
    let sum = 0;
    let node: TreeNode | undefined = this.root;
    while (node !== undefined) {
      const last: number = node.rowOf(at, 0);
      const whole = node.children === undefined ? last + 1 : last;
      for (let row = 0; row < whole; row += 1) sum += node.numbers[row * node.width + 2] as number;
      node = node.children?.[last];
    }
    return sum;
  }

  /**
   * When the last stretch of a window ends in which more than `usedMax` is used; -Infinity when there is none. Cost:
   * O(log n).
   */
  endOfExcess(usedMax: number, start: Instant, end: Instant): Instant {
    return lastExcess(this.root, { usedMax, start, end }, 0, Infinity);
  }

  /**
   * When the first stretch begins, `from` at the earliest, in which more than `usedMax` is used; Infinity when there is
   * none. Cost: O(log n).
   */
  startOfExcess(usedMax: number, from: Instant): Instant {
    if (this.usedAt(from) > usedMax) return from;
    return firstExcess(this.root, usedMax, from, 0);
  }

  /**
   * When the first stretch begins, `from` at the earliest, in which no more than `usedMax` is used; Infinity when there
   * is none. Cost: O(log n).
   */
  startOfRoom(usedMax: number, from: Instant): Instant {
    if (this.usedAt(from) <= usedMax) return from;
    return firstRoom(this.root, usedMax, from, 0);
  }

  /**
   * The earliest instant in [from, startMax] from which on no more than `usedMax` is used for a duration; Infinity when
   * there is none.
   *
   * Looks for the last excess in the window and not the first: no start before its end can do, and after two steps the
   * window has moved by its whole length. If the excess goes on behind the window, all of it is skipped at once. So it
   * takes at most 2 (startMax - from) / duration + 2 steps of O(log n), and never more than there are stretches between
   * excesses.
   */
  earliestFit(usedMax: number, duration: Duration, from: Instant, startMax: Instant): Instant {
    let start = from;
    while (start <= startMax && start < Infinity) {
      const windowEnd = start + duration;
      const end = this.endOfExcess(usedMax, start, windowEnd);
      if (end === -Infinity) return start;
      start = end < windowEnd ? end : this.startOfRoom(usedMax, end);
    }
    return Infinity;
  }

  /** The stretches that overlap a window, whole and in order. Cost: O(log n) and O(1) each. */
  slots(from: Instant, until: Instant): UsedSlot[] {
    const found: UsedSlot[] = [];
    let used = this.usedAt(from);
    let start = this.#breakpointUpTo(from);
    this.visit(from, 0.5, (at, _, change) => {
      if (at > from && start < until) {
        found.push({ start, end: at, used });
        start = at;
        used += change;
      }
      return at < until;
    });
    if (start < until) found.push({ start, end: Infinity, used });
    return found;
  }

  /** Forgets the function before `at`; what is used there is kept. Cost: O(log n) for each breakpoint that goes. */
  forget(at: Instant): void {
    if (at <= this.#from) return;
    const used = this.usedAt(at);
    this.#from = at;
    const gone: Instant[] = [];
    this.visit(-Infinity, 0, (breakpoint) => {
      if (breakpoint <= at) gone.push(breakpoint);
      return breakpoint < at;
    });
    for (const breakpoint of gone) this.remove(breakpoint, 0);
    if (used !== 0) this.set(at, 0, used);
  }

  /** The sum of all differences, the greatest sum of the first ones, the least. */
  protected override sumUp({ numbers, width, count }: TreeNode, parent: Float64Array, at: number): boolean {
    let sum = 0;
    let most = -Infinity;
    let least = Infinity;
    // A leaf's row reaches no more and no less than its own difference.
    const [mostAt, leastAt] = width === leafWidth ? [2, 2] : [3, 4];
    for (let row = 0; row < count * width; row += width) {
      most = Math.max(most, sum + (numbers[row + mostAt] as number));
      least = Math.min(least, sum + (numbers[row + leastAt] as number));
      sum += numbers[row + 2] as number;
    }
    parent[at] = sum;
    parent[at + 1] = most;
    parent[at + 2] = least;
    return true;
  }

  #change(at: Instant, by: number): void {
    const before = this.find(at, 0) ?? 0;
    if (before + by === 0) this.remove(at, 0);
    else this.set(at, 0, before + by);
  }

  #breakpointUpTo(at: Instant): Instant {
    let node = this.root;
    for (;;) {
      const row = node.rowOf(at, 0);
      if (row < 0) return -Infinity;
      if (node.children === undefined) return node.numbers[row * leafWidth] as number;
      node = node.children[row] as TreeNode;
    }
  }
}

interface Excess {
  readonly usedMax: number;
  readonly start: Instant;
  readonly end: Instant;
}

/** @param before the use before the node. @param nodeEnd the end of its last stretch. */
function lastExcess(node: TreeNode, sought: Excess, before: number, nodeEnd: Instant): Instant {
  const { usedMax, start, end } = sought;
  const { numbers, width, children } = node;
  const reachAt = children === undefined ? 2 : 3;
  const lowest = Math.max(0, node.rowOf(start, 0)) * width;
  let row = node.rowOf(end, 0) * width;
  if (row >= 0 && (numbers[row] as number) >= end) row -= width;
  let used = before;
  for (let each = 0; each <= row; each += width) used += numbers[each + 2] as number;
  for (; row >= lowest; row -= width) {
    used -= numbers[row + 2] as number;
    if (used + (numbers[row + reachAt] as number) <= usedMax) continue;
    const rowEnd = row + width < node.count * width ? (numbers[row + width] as number) : nodeEnd;
    if (children === undefined) return rowEnd;
    const found = lastExcess(children[row / width] as TreeNode, sought, used, rowEnd);
    if (found > -Infinity) return found;
  }
  return -Infinity;
}

function firstExcess(node: TreeNode, usedMax: number, from: Instant, before: number): Instant {
  const { numbers, width, children } = node;
  const reachAt = children === undefined ? 2 : 3;
  const lowest = Math.max(0, node.rowOf(from, 0)) * width;
  let used = before;
  for (let row = 0; row < node.count * width; row += width) {
    if (row >= lowest && used + (numbers[row + reachAt] as number) > usedMax) {
      const found =
        children === undefined
          ? (numbers[row] as number)
          : firstExcess(children[row / width] as TreeNode, usedMax, from, used);
      if (found >= from && found < Infinity) return found;
    }
    used += numbers[row + 2] as number;
  }
  return Infinity;
}

function firstRoom(node: TreeNode, usedMax: number, from: Instant, before: number): Instant {
  const { numbers, width, children } = node;
  const leastAt = children === undefined ? 2 : 4;
  const lowest = Math.max(0, node.rowOf(from, 0)) * width;
  let used = before;
  for (let row = 0; row < node.count * width; row += width) {
    if (row >= lowest && used + (numbers[row + leastAt] as number) <= usedMax) {
      const found =
        children === undefined
          ? (numbers[row] as number)
          : firstRoom(children[row / width] as TreeNode, usedMax, from, used);
      if (found >= from && found < Infinity) return found;
    }
    used += numbers[row + 2] as number;
  }
  return Infinity;
}
