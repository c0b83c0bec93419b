import { Prng } from '@mutirao/core/shared';

/** An estimate and its 95 % confidence interval; NaN where there is nothing to estimate from. */
export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Values of one scenario. */
export interface PairedTimes {
  /** Scenarios of the same draw have the same instants, and as many; those of different draws are independent. */
  readonly draw: string;
  /** What is divided: the least of the means of these. At each index the same instant and the same rng. */
  readonly references: readonly (readonly number[])[];
  /** What it is divided by. */
  readonly other: readonly number[];
}

/** How often instants are drawn again. */
const rounds = 1000;

/** The instants of the bootstrap samples: the same for every estimate that is made with one of these. */
export class Resampling {
  readonly #rng: Prng;
  /** By draw and number of instants: for each round, the instants that are taken, one after the other. */
  readonly #picks = new Map<string, Uint16Array>();

  /** @param seed the same seed, the same samples. */
  constructor(seed: string) {
    this.#rng = new Prng(`seed ${seed} bootstrap`);
  }

  /**
   * Indexes of instants: those of the first round, then those of the second, and so on. @param count in 1 .. 65,535.
   */
  picksOf(draw: string, count: number): Uint16Array {
    const key = `${draw} ${count}`;
    const known = this.#picks.get(key);
    if (known !== undefined) return known;
    const rng = this.#rng.fork(key);
    const picks = Uint16Array.from({ length: rounds * count }, () => rng.below(count));
    this.#picks.set(key, picks);
    return picks;
  }
}

/**
 * The geometric mean over scenarios of better / other, where better is the least of the references' means over the
 * instants and other the mean of
 * the other's: the better one is chosen per scenario, by its mean, never per instant.
 *
 * The interval is the middle 95 % of 1000 paired bootstrap samples: of each draw as many instants are taken, with
 * repetition, as it has, the same for
 * all heuristics and all scenarios of the draw, and the better one is chosen again. Cost: O(1000 x values).
 */
export function geometricMean(scenarios: readonly PairedTimes[], resampling: Resampling): Interval {
  return resample(scenarios, resampling, getLogMean, Math.exp);
}

/** Better / other of one scenario, with the interval of `geometricMean`. */
export function getSpeedup(scenario: PairedTimes, resampling: Resampling): Interval {
  return resample([scenario], resampling, getLogMean, Math.exp);
}

/**
 * The mean over scenarios of the mean of the first reference, over that of the other, with intervals as in
 * `geometricMean`.
 */
export function ratioOfMeans(scenarios: readonly PairedTimes[], resampling: Resampling): Interval {
  return resample(
    scenarios,
    resampling,
    (samples) => {
      let [above, below] = [0, 0];
      for (const { better, other } of samples) {
        above += better;
        below += other;
      }
      return above / below;
    },
    (value) => value,
  );
}

/** Means over the instants of a sample. */
interface Sample {
  readonly better: number;
  readonly other: number;
}

function getLogMean(samples: readonly Sample[]): number {
  let total = 0;
  for (const { better, other } of samples) total += Math.log(better / other);
  return total / samples.length;
}

function resample(
  scenarios: readonly PairedTimes[],
  resampling: Resampling,
  measure: (samples: readonly Sample[]) => number,
  show: (value: number) => number,
): Interval {
  const usable = scenarios.filter(({ other }) => other.length > 0);
  if (usable.length === 0) return { value: NaN, low: NaN, high: NaN };
  const value = measure(usable.map((scenario) => getSample(scenario, Uint16Array.from(scenario.other.keys()))));
  const picks = usable.map(({ draw, other }) => resampling.picksOf(draw, other.length));
  const values = Float64Array.from({ length: rounds }, (_, round) =>
    measure(
      usable.map((scenario, index) => {
        const count = scenario.other.length;
        return getSample(scenario, (picks[index] as Uint16Array).subarray(round * count, (round + 1) * count));
      }),
    ),
  ).sort();
  const at = (share: number): number => show(values[Math.round(share * (rounds - 1))] as number);
  return { value: show(value), low: at(0.025), high: at(0.975) };
}

function getSample({ references, other }: PairedTimes, instants: Uint16Array): Sample {
  let better = Infinity;
  for (const reference of references) better = Math.min(better, getTotal(reference, instants));
  return { better: better / instants.length, other: getTotal(other, instants) / instants.length };
}

function getTotal(values: readonly number[], instants: Uint16Array): number {
  let total = 0;
  for (const instant of instants) total += values[instant] as number;
  return total;
}
