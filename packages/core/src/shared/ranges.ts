import type { IndexRange } from './index-set.ts';

/** How many numbers ranges have. */
export function countIn(ranges: readonly IndexRange[]): number {
  return ranges.reduce((sum, { count }) => sum + count, 0);
}

/** Numbers as ranges of those that count up by one; the order is kept. */
export function listRanges(numbers: Iterable<number>): IndexRange[] {
  const ranges: { first: number; count: number }[] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last.first + last.count === number) last.count += 1;
    else ranges.push({ first: number, count: 1 });
  }
  return ranges;
}
