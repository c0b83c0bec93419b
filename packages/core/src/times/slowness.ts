import type { Duration } from '../shared/index.ts';
import type { TimeCurve } from './time-curve.ts';

/**
 * How a machine's run times compare with those of the same jobs everywhere: the sum of their ratios, and how many there
 * were.
 */
export interface Slowness {
  readonly sum: number;
  readonly count: number;
}

/** Of a machine of which nothing is known. */
export const unknownSlowness: Slowness = { sum: 0, count: 0 };

/** Runs at par that a machine is given beforehand: the fewer it has had, the nearer to 1 its factor stays. */
const priorCount = 4;
/** From this many runs on the older ones count for half, so that a change of the machine shows. */
const countMax = 64;
/** One run says no more than this of its machine: its task may be the long one of many. */
const ratioMax = 8;

/** How many times longer a machine takes than is usual for the same jobs; 1 where nothing is known. */
export function slownessFactor({ sum, count }: Slowness): number {
  return (priorCount + sum) / (priorCount + count);
}

/** A run as evidence of its machine's speed. */
export interface ComparedRun {
  readonly time: Duration;
  /** It was cut off after that time. */
  readonly isCensored: boolean;
}

/**
 * The slowness of a machine after one more run there of a job whose times are `usual`.
 *
 * @source Buckley and James, "Linear regression with censored data", Biometrika 66 (1979): a cut time is replaced by
 *   its expected length, y* = delta y + (1 - delta) E(T | T > y).
 * Symbols: y = `run.time`, delta = 0 where `isCensored` and 1 else, E(T | T > y) - y = `slownessFactor` x
 * `usual.expectedRemaining` of the time at par.
 * Departs from the source: one run after the other, where it iterates over all; and of y* the ratio to the mean is
 * kept, `ratioMax` at most. So a machine at par stays at par however often its runs are cut off.
 */
export function compareRun(slowness: Slowness, run: ComparedRun, usual: TimeCurve): Slowness {
  const { mean } = usual;
  if (mean === undefined || mean === 0) return slowness;
  const factor = slownessFactor(slowness);
  const remaining = run.isCensored ? factor * (usual.expectedRemaining(run.time / factor) ?? 0) : 0;
  return compareWith(slowness, run.time + remaining, mean);
}

/** The slowness of a machine after one more run there that took `time`, if `usual`, above 0, is the time elsewhere. */
export function compareWith(slowness: Slowness, time: Duration, usual: Duration): Slowness {
  if (usual === 0) return slowness;
  const ratio = Math.min(ratioMax, time / usual);
  const { sum, count } = slowness.count >= countMax ? { sum: slowness.sum / 2, count: slowness.count / 2 } : slowness;
  return { sum: sum + ratio, count: count + 1 };
}
