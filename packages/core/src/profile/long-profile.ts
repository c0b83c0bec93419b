import { OrderedTree, type TreeNode } from '../shared/ordered-tree.ts';
import { invariant } from '../shared/index.ts';
import type { Duration, Instant } from '../shared/index.ts';

/** A stretch of time over which what is used does not change. */
export interface UsedSlot {
  /** -Infinity for the first. */
  readonly start: Instant;
  /** Infinity for the last. */
  readonly end: Instant;
  readonly used: number;
}

/**
 * How much of a capacity is used, as a step function of time: a profile for windows that cover thousands of segments.
 *
 * `AvailabilityProfile` changes each segment of a window, which is best where a window covers a few. Here a window changes two rows, the
 * differences at its ends, and each node of a tree knows the greatest sum that its differences reach: so a change costs O(log n), and so
 * does finding the last place in a window where too much is used. Sums are of whole numbers and exact up to 2^53.
 */
export class LongProfile extends OrderedTree {
  /** What was before is forgotten. */
  #from: Instant = -Infinity;

  /** Uses so much more in [start, end); less when negative. Cost: O(log n). */
  add(amount: number, start: Instant, end: Instant): void {
    const begin = Math.max(start, this.#from);
    if (end <= begin || amount === 0) return;
    this.#change(begin, amount);
    if (end < Infinity) this.#change(end, -amount);
  }

  /** Takes many windows at once in place of what there is. @param windows sorted by start. Cost: O(n log n). */
  loadWindows(windows: readonly { readonly start: Instant; readonly end: Instant; readonly amount: number }[]): void {
    const ends = Uint32Array.from(windows, (_, index) => index).sort((one, other) => (windows[one]?.end ?? 0) - (windows[other]?.end ?? 0));
    const first = new Float64Array(2 * windows.length);
    const value = new Float64Array(2 * windows.length);
    let count = 0;
    const note = (at: Instant, change: number): void => {
      if (count > 0 && first[count - 1] === at) value[count - 1] = (value[count - 1] as number) + change;
      else {
        // A breakpoint at which nothing changes is none.
        if (count > 0 && value[count - 1] === 0) count -= 1;
        first[count] = at;
        value[count] = change;
        count += 1;
      }
    };
    let ended = 0;
    const noteEndsUpTo = (at: Instant): void => {
      for (let window = windows[ends[ended] as number]; window !== undefined && window.end <= at; window = windows[ends[ended += 1] as number]) {
        if (window.end < Infinity) note(window.end, -window.amount);
      }
    };
    for (const { start, amount } of windows) {
      noteEndsUpTo(start);
      note(start, amount);
    }
    noteEndsUpTo(Infinity);
    if (count > 0 && value[count - 1] === 0) count -= 1;
    this.load({ first: first.subarray(0, count), second: new Float64Array(count), value: value.subarray(0, count) });
  }

  /** What is used at an instant. Cost: O(log n). */
  usedAt(at: Instant): number {
    let sum = 0;
    let node: TreeNode | undefined = this.root;
    while (node !== undefined) {
      const last: number = node.rowOf(at, 0);
      const whole = node.children === undefined ? last + 1 : last;
      for (let row = 0; row < whole; row += 1) sum += node.value[row] as number;
      node = node.children?.[last];
    }
    return sum;
  }

  /** When the last stretch of a window ends in which more than `usedMax` is used; -Infinity when there is none. Cost: O(log n). */
  endOfExcess(usedMax: number, start: Instant, end: Instant): Instant {
    return lastExcess(this.root, { usedMax, start, end }, 0, Infinity);
  }

  /** When the first stretch begins, `from` at the earliest, in which more than `usedMax` is used; Infinity when there is none. Cost: O(log n). */
  startOfExcess(usedMax: number, from: Instant): Instant {
    if (this.usedAt(from) > usedMax) return from;
    return firstExcess(this.root, usedMax, from, 0);
  }

  /** The most that is used in a window. Cost: O(log n). */
  mostUsed(start: Instant, end: Instant): number {
    return Math.max(this.usedAt(start), mostWithin(this.root, start, end, 0));
  }

  /**
   * The earliest instant in [from, startMax] from which on no more than `usedMax` is used for a duration; Infinity when there is none.
   *
   * Looks for the last excess in the window and not the first: no start before its end can do, and after two steps the window has moved by its
   * whole length. So it takes at most 2 (startMax - from) / duration + 2 steps of O(log n), and never more than there are excesses.
   */
  earliestFit(usedMax: number, duration: Duration, from: Instant, startMax: Instant): Instant {
    let start = from;
    while (start <= startMax && start < Infinity) {
      const end = this.endOfExcess(usedMax, start, start + duration);
      if (end === -Infinity) return start;
      start = end;
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

  protected override sumUp(node: TreeNode, parent: TreeNode, row: number): void {
    let sum = 0;
    let most = -Infinity;
    let least = Infinity;
    for (let each = 0; each < node.count; each += 1) {
      const change = node.value[each] as number;
      const isLeaf = node.children === undefined;
      most = Math.max(most, sum + (isLeaf ? change : node.most[each] as number));
      least = Math.min(least, sum + (isLeaf ? change : node.least[each] as number));
      sum += change;
    }
    parent.value[row] = sum;
    parent.most[row] = most;
    parent.least[row] = least;
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
      if (node.children === undefined) return node.first[row] as number;
      node = node.children[row] as TreeNode;
    }
  }
}

interface Excess {
  readonly usedMax: number;
  readonly start: Instant;
  readonly end: Instant;
}

/** @param before what is used before the node. @param nodeEnd where its last stretch ends. */
function lastExcess(node: TreeNode, sought: Excess, before: number, nodeEnd: Instant): Instant {
  const { usedMax, start, end } = sought;
  const { first, value, children } = node;
  const reach = children === undefined ? value : node.most;
  const lowest = Math.max(0, node.rowOf(start, 0));
  let row = node.rowOf(end, 0);
  if (row >= 0 && (first[row] as number) >= end) row -= 1;
  let used = before;
  for (let each = 0; each <= row; each += 1) used += value[each] as number;
  for (; row >= lowest; row -= 1) {
    used -= value[row] as number;
    if (used + (reach[row] as number) <= usedMax) continue;
    const rowEnd = row + 1 < node.count ? first[row + 1] as number : nodeEnd;
    if (children === undefined) return rowEnd;
    const found = lastExcess(children[row] as TreeNode, sought, used, rowEnd);
    if (found > -Infinity) return found;
  }
  return -Infinity;
}

function firstExcess(node: TreeNode, usedMax: number, from: Instant, before: number): Instant {
  const { first, value, children } = node;
  const reach = children === undefined ? value : node.most;
  const lowest = Math.max(0, node.rowOf(from, 0));
  let used = before;
  for (let row = 0; row < node.count; row += 1) {
    if (row >= lowest && used + (reach[row] as number) > usedMax) {
      const found = children === undefined ? first[row] as number : firstExcess(children[row] as TreeNode, usedMax, from, used);
      if (found >= from && found < Infinity) return found;
    }
    used += value[row] as number;
  }
  return Infinity;
}

/** The most that the stretches reach which begin in (start, end). */
function mostWithin(node: TreeNode, start: Instant, end: Instant, before: number): number {
  const { first, value, children } = node;
  let used = before;
  let most = -Infinity;
  for (let row = 0; row < node.count && (first[row] as number) < end; row += 1) {
    const rowEnd = row + 1 < node.count ? first[row + 1] as number : Infinity;
    if (children === undefined) {
      if ((first[row] as number) > start) most = Math.max(most, used + (value[row] as number));
    } else if ((first[row] as number) > start && rowEnd <= end) most = Math.max(most, used + (node.most[row] as number));
    else if (rowEnd > start) most = Math.max(most, mostWithin(children[row] as TreeNode, start, end, used));
    used += value[row] as number;
  }
  invariant(!Number.isNaN(most), 'a profile without numbers');
  return most;
}
