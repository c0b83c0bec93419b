import type { Duration, Instant } from '../shared/index.ts';
import { leafWidth, OrderedTree, type RowChange, type TreeNode, type VisitRow } from '../shared/ordered-tree.ts';

/**
 * Periods of time in order of their starts, and of a number among those that start together: rows (start, number) ->
 * end.
 *
 * A node knows the latest end of each child's rows and their greatest length. n is the number of periods.
 */
export class PeriodTree extends OrderedTree {
  protected override sumUp({ numbers, width, count }: TreeNode, parent: Float64Array, at: number): boolean {
    let latest = -Infinity;
    let longest = 0;
    for (let row = 0; row < count * width; row += width) {
      const end = numbers[row + 2] as number;
      const length = width === leafWidth ? end - (numbers[row] as number) : (numbers[row + 3] as number);
      if (end > latest) latest = end;
      if (length > longest) longest = length;
    }
    if (parent[at] === latest && parent[at + 1] === longest) return false;
    parent[at] = latest;
    parent[at + 1] = longest;
    return true;
  }

  protected override mend(numbers: Float64Array, at: number, { first, was, is }: RowChange): boolean | undefined {
    const latest = numbers[at] as number;
    const longest = numbers[at + 1] as number;
    // What was the latest or the longest is less now, and another may be so.
    if (is < was && (was === latest || was - first === longest)) return undefined;
    if (is <= latest && is - first <= longest) return false;
    numbers[at] = Math.max(latest, is);
    numbers[at + 1] = Math.max(longest, is - first);
    return true;
  }

  /**
   * Visits the periods that begin at `start` or before and end at `end` or later, in order, until a visit answers
   * false. Cost: O(log n) each.
   */
  visitAround(start: Instant, end: Instant, visit: VisitRow): void {
    visitAround(this.root, start, end, visit);
  }

  /**
   * Visits the periods that overlap a window of whole milliseconds, in order, until a visit answers false. Cost: O(log
   * n) each.
   */
  visitOverlapping(from: Instant, until: Instant, visit: VisitRow): void {
    visitAround(this.root, until - 0.5, from + 0.5, visit);
  }

  /**
   * Visits the periods of at least a length that begin after `after`, up to `startMax`, in order, until a visit answers
   * false. Cost: O(log n) each.
   */
  visitLong(length: Duration, after: Instant, startMax: Instant, visit: VisitRow): void {
    visitLong(this.root, { length, after, startMax }, visit);
  }
}

function visitAround(node: TreeNode, start: Instant, end: Instant, visit: VisitRow): boolean {
  const { numbers, width, children } = node;
  for (let row = 0; row < node.count * width && (numbers[row] as number) <= start; row += width) {
    if ((numbers[row + 2] as number) < end) continue;
    const goesOn =
      children === undefined
        ? visit(numbers[row] as number, numbers[row + 1] as number, numbers[row + 2] as number)
        : visitAround(children[row / width] as TreeNode, start, end, visit);
    if (!goesOn) return false;
  }
  return true;
}

interface LongSearch {
  readonly length: Duration;
  readonly after: Instant;
  readonly startMax: Instant;
}

function visitLong(node: TreeNode, search: LongSearch, visit: VisitRow): boolean {
  const { numbers, width, children } = node;
  const { length, after, startMax } = search;
  for (
    let row = Math.max(0, node.rowOf(after, Infinity)) * width;
    row < node.count * width && (numbers[row] as number) <= startMax;
    row += width
  ) {
    const start = numbers[row] as number;
    if (children !== undefined) {
      if ((numbers[row + 3] as number) >= length && !visitLong(children[row / width] as TreeNode, search, visit))
        return false;
    } else if (
      start > after &&
      (numbers[row + 2] as number) - start >= length &&
      !visit(start, numbers[row + 1] as number, numbers[row + 2] as number)
    )
      return false;
  }
  return true;
}
