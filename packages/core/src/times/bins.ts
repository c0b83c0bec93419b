import type { Duration } from '../shared/index.ts';

/** Bins of equal width into which each doubling is cut: a bin is at most a sixteenth wider than its lower edge. */
const binsPerDoubling = 16;

/** Longer times count as this long; a good thousand years. */
export const timeMax: Duration = 2 ** 45;

/**
 * The bin that a time falls into: times below 32 ms have one each, from there on each doubling has sixteen.
 *
 * Bins by doubling with linear bins inside need no logarithm, which is not the same everywhere. Cost: O(doublings), 41
 * at most.
 *
 * @param time whole milliseconds, 0 to `timeMax`.
 */
export function getBin(time: Duration): number {
  let width = 1;
  let bin = 0;
  while (time >= 2 * binsPerDoubling * width) {
    width *= 2;
    bin += binsPerDoubling;
  }
  return bin + Math.floor(time / width);
}

/** The longest time that falls into a bin. */
export function longestOfBin(bin: number): Duration {
  if (bin < 2 * binsPerDoubling) return bin;
  const doublings = Math.floor(bin / binsPerDoubling) - 1;
  return (bin - doublings * binsPerDoubling + 1) * 2 ** doublings - 1;
}

/** A whole time that has a bin: rounded up, and kept within what bins hold. */
export function wholeTime(time: number): Duration {
  return Math.min(timeMax, Math.max(0, Math.ceil(time)));
}
