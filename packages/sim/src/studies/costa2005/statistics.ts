import { studentQuantile } from '../../summarize.ts';

/** Paired values of one scenario: at each index the same instant and the same rng. */
export interface PairedValues {
  /** Scenarios of the same draw have the same instants; those of different draws are independent. */
  readonly draw: string;
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
 * The interval treats instants as the samples: the deviations of one instant are added up over the scenarios that share
 * it before they are squared (delta method, clustered). Scenarios of one draw have equally many instants.
 *
 * @source costa2005, Eq. 4.1:  speedup = sum of static turnarounds / sum of adaptive turnarounds
 * Symbols: static = `reference`, adaptive = `other`. Departs from the source: no; the mean over scenarios is how its
 * tables are read.
 */
export function meanOfRatios(scenarios: readonly PairedValues[]): Estimate {
  return getAverage(scenarios, (scenario) => getRatio(scenario));
}

/**
 * The geometric mean over scenarios of reference / other, each a ratio of sums as in `meanOfRatios`, so that x and 1/x
 * cancel out.
 */
export function geometricMean(scenarios: readonly PairedValues[]): Estimate {
  const { value, halfInterval } = getAverage(
    scenarios.filter(({ reference }) => sum(reference) > 0),
    (scenario) => {
      const { value: ratio, deviations } = getRatio(scenario);
      return { value: Math.log(ratio), deviations: deviations.map((deviation) => deviation / ratio) };
    },
  );
  return { value: Math.exp(value), halfInterval: Math.exp(value) * halfInterval };
}

/** The mean over scenarios of the mean over instants of reference / other: each single run counts alike. */
export function meanOfRunRatios(scenarios: readonly PairedValues[]): Estimate {
  return getAverage(scenarios, ({ reference, other }) => {
    const ratios = other.map((value, instant) => (reference[instant] ?? 0) / value);
    const mean = sum(ratios) / ratios.length;
    return { value: mean, deviations: ratios.map((ratio) => (ratio - mean) / ratios.length) };
  });
}

/** A value of one scenario, and how far each instant moves it. */
interface Moved {
  readonly value: number;
  readonly deviations: readonly number[];
}

function getRatio({ reference, other }: PairedValues): Moved {
  const ratio = sum(reference) / sum(other);
  return {
    value: ratio,
    deviations: other.map((value, instant) => ((reference[instant] ?? 0) - ratio * value) / sum(other)),
  };
}

/** The mean of a value over the scenarios in which it is defined. */
function getAverage(scenarios: readonly PairedValues[], measure: (scenario: PairedValues) => Moved): Estimate {
  const usable = scenarios.filter(({ other }) => sum(other) > 0);
  const moves = new Deviations();
  let total = 0;
  for (const scenario of usable) {
    const { value, deviations } = measure(scenario);
    total += value;
    deviations.forEach((deviation, instant) => {
      moves.add(scenario.draw, instant, deviation / usable.length);
    });
  }
  return { value: usable.length === 0 ? NaN : total / usable.length, halfInterval: moves.halfInterval };
}

/**
 * The ratio of the sums over all scenarios, each with the mean over its instants; the interval is found as in
 * `meanOfRatios`.
 */
export function ratioOfSums(scenarios: readonly PairedValues[]): Estimate {
  const mean = (values: readonly number[]): number => sum(values) / Math.max(1, values.length);
  const below = sum(scenarios.map(({ other }) => mean(other)));
  const ratio = sum(scenarios.map(({ reference }) => mean(reference))) / below;
  const deviations = new Deviations();
  for (const { draw, reference, other } of scenarios) {
    other.forEach((value, instant) => {
      deviations.add(draw, instant, ((reference[instant] ?? 0) - ratio * value) / other.length / below);
    });
  }
  return { value: below > 0 ? ratio : NaN, halfInterval: deviations.halfInterval };
}

/** How far each instant of each draw moves an estimate. */
class Deviations {
  readonly #byDraw = new Map<string, number[]>();

  add(draw: string, instant: number, deviation: number): void {
    const values = this.#byDraw.get(draw) ?? [];
    this.#byDraw.set(draw, values);
    values[instant] = (values[instant] ?? 0) + deviation;
  }

  /** By Student's t with the degrees of freedom of the smallest draw, which is on the safe side. */
  get halfInterval(): number {
    let variance = 0;
    let least = Infinity;
    for (const values of this.#byDraw.values()) {
      least = Math.min(least, values.length);
      variance += (sum(values.map((value) => value ** 2)) * values.length) / Math.max(1, values.length - 1);
    }
    return least < 2 || least === Infinity ? Infinity : studentQuantile(least - 1) * Math.sqrt(variance);
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
