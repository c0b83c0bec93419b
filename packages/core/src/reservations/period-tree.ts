import type { Duration, Instant } from '../shared/index.ts';
import { OrderedTree, type TreeNode } from '../shared/ordered-tree.ts';

/**
 * Periods of time in order of their starts, and of a number among those that start together: rows (start, number) -> end.
 *
 * A node knows the latest end of each child's rows (`value`) and their greatest length (`most`). n is the number of periods.
 */
export class PeriodTree extends OrderedTree {
  protected override sumUp(node: TreeNode, parent: TreeNode, row: number): void {
    let latest = -Infinity;
    let longest = 0;
    for (let each = 0; each < node.count; each += 1) {
      const end = node.value[each] as number;
      latest = Math.max(latest, end);
      longest = Math.max(longest, node.children === undefined ? end - (node.first[each] as number) : node.most[each] as number);
    }
    parent.value[row] = latest;
    parent.most[row] = longest;
  }

  /** Visits the periods that begin at `start` or before and end at `end` or later, in order, until a visit answers false. Cost: O(log n) each. */
  visitAround(start: Instant, end: Instant, visit: VisitPeriod): void {
    visitAround(this.root, start, end, visit);
  }

  /** Visits the periods that overlap a window of whole milliseconds, in order, until a visit answers false. Cost: O(log n) each. */
  visitOverlapping(from: Instant, until: Instant, visit: VisitPeriod): void {
    visitAround(this.root, until - 0.5, from + 0.5, visit);
  }

  /** Visits the periods of at least a length that begin after `after`, up to `startMax`, in order, until a visit answers false. Cost: O(log n) each. */
  visitLong(length: Duration, after: Instant, startMax: Instant, visit: VisitPeriod): void {
    visitLong(this.root, { length, after, startMax }, visit);
  }
}

/** Answers whether the walk goes on; it changes nothing. */
export type VisitPeriod = (start: Instant, number: number, end: Instant) => boolean;

function visitAround(node: TreeNode, start: Instant, end: Instant, visit: VisitPeriod): boolean {
  const { first, second, value, children } = node;
  for (let row = 0; row < node.count && (first[row] as number) <= start; row += 1) {
    if ((value[row] as number) < end) continue;
    const goesOn = children === undefined ? visit(first[row] as number, second[row] as number, value[row] as number)
      : visitAround(children[row] as TreeNode, start, end, visit);
    if (!goesOn) return false;
  }
  return true;
}

interface LongSearch {
  readonly length: Duration;
  readonly after: Instant;
  readonly startMax: Instant;
}

function visitLong(node: TreeNode, search: LongSearch, visit: VisitPeriod): boolean {
  const { first, second, value, most, children } = node;
  const { length, after, startMax } = search;
  for (let row = Math.max(0, node.rowOf(after, Infinity)); row < node.count && (first[row] as number) <= startMax; row += 1) {
    const start = first[row] as number;
    if (children !== undefined) {
      if ((most[row] as number) >= length && !visitLong(children[row] as TreeNode, search, visit)) return false;
    } else if (start > after && (value[row] as number) - start >= length && !visit(start, second[row] as number, value[row] as number)) return false;
  }
  return true;
}
