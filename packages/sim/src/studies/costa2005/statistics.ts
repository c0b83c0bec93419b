import { studentQuantile } from '../../summarize.ts';

/** Paired values of one scenario: at each index the same instant and the same luck. */
export interface PairedValues {
  /** Of the reference. */
  readonly reference: readonly number[];
  readonly other: readonly number[];
}

/** An estimate and half of its 95 % confidence interval; Infinity below two instants. */
export interface Estimate {
  readonly value: number;
  readonly halfInterval: number;
}

/**
 * The mean over scenarios of reference / other, each a ratio of sums over its instants.
 *
 * The interval treats instants as what was drawn: all scenarios share them, so that the deviations of one instant are added up over the
 * scenarios before they are squared (delta method, clusters of equal weight). Scenarios with fewer instants have the first ones.
 *
 * @source costa2005, Eq. 4.1:  speedup = sum of static turnarounds / sum of adaptive turnarounds
 * Symbols: static = `reference`, adaptive = `other`. Departs from the source: no; the mean over scenarios is how its tables are read.
 */
export function meanOfRatios(scenarios: readonly PairedValues[]): Estimate {
  const usable = scenarios.filter(({ other }) => sum(other) > 0);
  const deviations: number[] = [];
  let total = 0;
  for (const { reference, other } of usable) {
    const ratio = sum(reference) / sum(other);
    total += ratio;
    other.forEach((value, instant) => {
      deviations[instant] = (deviations[instant] ?? 0) + ((reference[instant] ?? 0) - ratio * value) / sum(other) / usable.length;
    });
  }
  return { value: usable.length === 0 ? NaN : total / usable.length, halfInterval: halfIntervalOf(deviations) };
}

/** The ratio of the sums over all scenarios, each with the mean over its instants; the interval is found as in `meanOfRatios`. */
export function ratioOfSums(scenarios: readonly PairedValues[]): Estimate {
  const mean = (values: readonly number[]): number => sum(values) / Math.max(1, values.length);
  const below = sum(scenarios.map(({ other }) => mean(other)));
  const ratio = sum(scenarios.map(({ reference }) => mean(reference))) / below;
  const deviations: number[] = [];
  for (const { reference, other } of scenarios) {
    other.forEach((value, instant) => {
      deviations[instant] = (deviations[instant] ?? 0) + ((reference[instant] ?? 0) - ratio * value) / other.length / below;
    });
  }
  return { value: below > 0 ? ratio : NaN, halfInterval: halfIntervalOf(deviations) };
}

function halfIntervalOf(deviations: readonly number[]): number {
  const count = deviations.length;
  if (count < 2) return Infinity;
  const squares = deviations.reduce((total, deviation) => total + deviation ** 2, 0);
  return studentQuantile(count - 1) * Math.sqrt((squares * count) / (count - 1));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
