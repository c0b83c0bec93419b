import { type Duration, invariant } from '../shared/index.ts';
import { getBin, longestOfBin, timeMax, wholeTime } from './bins.ts';

/** A curve as it goes into JSON. */
export interface SavedCurve {
  readonly sum: Duration;
  readonly longest: Duration;
  readonly longestCensored: Duration;
  /** Bin, runs that ended in it, runs that were cut off in it; ascending by bin, none empty. */
  readonly bins: readonly (readonly [number, number, number])[];
}

/** The steps of the product-limit estimate, and what follows from them; made when it is asked for. */
interface Steps {
  /** Ascending: no run ends between two of them. */
  readonly edges: readonly Duration[];
  /** The share of runs that last longer than the edge of the same index; falls from step to step. */
  readonly lasting: readonly number[];
  /** The integral of that share from the edge of the same index on, with what is assumed beyond the last. */
  readonly areas: readonly number[];
  /** The longest time of which anything is known. */
  readonly end: Duration;
}

/** What rounding may take from a product of many shares. */
const tolerance = 1e-9;

/**
 * Estimates how long runs last, from those that ended and those that were cut off. A run that was killed after an hour
 * is only known to last longer (it is *censored*); leaving it out would make times look shorter.
 *
 * @source the product-limit estimate, S(t) = product over the times t_i <= t at which runs ended of (1 - d_i / n_i)
 * Symbols: d_i = runs that ended at t_i, n_i = runs that lasted until t_i without being cut off before.
 * Departs from the source: times are kept in bins (see `getBin`), so that memory is bounded however many runs there
 * were. Ends count at the longest time of their bin, before those that were cut off in it: both make times longer, by a
 * sixteenth at most, never shorter.
 * Memory: three numbers per bin that something fell into, 700 bins at most; 10 to 60 for usual jobs. Cost: O(log bins)
 * to add, O(bins) for the first question after that, O(log bins) for more.
 */
export class TimeCurve {
  /** Ascending; the two below are by the same index. */
  readonly #bins: number[] = [];
  readonly #ended: number[] = [];
  readonly #censored: number[] = [];
  #steps: Steps | undefined;
  /** What the bins hold, since they changed last; made when it is asked for. */
  #binned: { readonly ended: number; readonly censored: number } | undefined;
  /** Runs that ended. */
  count = 0;
  /** Runs that were cut off. */
  censoredCount = 0;
  /** Of the runs that ended, as `longest`. */
  sum: Duration = 0;
  longest: Duration = 0;
  longestCensored: Duration = 0;

  /** Adds a run that ended. */
  add(time: Duration): void {
    const whole = wholeTime(time);
    const at = this.#open(getBin(whole));
    this.#ended[at] = (this.#ended[at] ?? 0) + 1;
    this.count++;
    this.sum += whole;
    if (whole > this.longest) this.longest = whole;
  }

  /** Adds a run that was cut off after `time`. */
  addCensored(time: Duration): void {
    const whole = wholeTime(time);
    const at = this.#open(getBin(whole));
    this.#censored[at] = (this.#censored[at] ?? 0) + 1;
    this.censoredCount++;
    if (whole > this.longestCensored) this.longestCensored = whole;
  }

  /** Adds the runs of another curve. */
  addAll(other: TimeCurve): void {
    for (const [index, bin] of other.#bins.entries()) {
      const at = this.#open(bin);
      this.#ended[at] = (this.#ended[at] ?? 0) + (other.#ended[index] ?? 0);
      this.#censored[at] = (this.#censored[at] ?? 0) + (other.#censored[index] ?? 0);
    }
    this.count += other.count;
    this.censoredCount += other.censoredCount;
    this.sum += other.sum;
    this.longest = Math.max(this.longest, other.longest);
    this.longestCensored = Math.max(this.longestCensored, other.longestCensored);
  }

  /**
   * The time within which this share of the runs end, of those that last longer than `elapsed`; undefined if that is
   * not known, because too many were cut off or none lasted that long.
   *
   * @param share in (0, 1].
   */
  quantile(share: number, elapsed: Duration = 0): Duration | undefined {
    const { edges, lasting } = this.#ask();
    const from = elapsed === 0 ? -1 : lastUpTo(edges, elapsed);
    const left = from < 0 ? 1 : (lasting[from] ?? 0);
    if (left === 0) return undefined;
    const wanted = (1 - share) * left + tolerance * left;
    // The shares fall, so the first one that is small enough is found by halving.
    let low = from + 1;
    let high = edges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((lasting[middle] ?? 0) <= wanted) high = middle;
      else low = middle + 1;
    }
    return edges[low];
  }

  /** How much longer a run lasts, on average, that has lasted for `elapsed`; undefined where nothing is known. */
  expectedRemaining(elapsed: Duration): Duration | undefined {
    const total = this.expectedTotal(elapsed);
    return total === undefined ? undefined : Math.ceil(total - elapsed);
  }

  /**
   * The mean total time of runs that have lasted for `elapsed`; undefined if nothing is known. Never falls as `elapsed`
   * grows.
   *
   * Beyond the observed times a run is expected to last as long again: the seeds double requests that were too short in
   * the same way.
   *
   * @param elapsed need not be whole.
   * @returns not rounded.
   */
  expectedTotal(elapsed: number): number | undefined {
    if (this.count + this.censoredCount === 0) return undefined;
    const { edges, lasting, areas, end } = this.#ask();
    const at = lastUpTo(edges, elapsed);
    const left = at < 0 ? 1 : (lasting[at] ?? 0);
    if (left === 0 || elapsed >= end) return 2 * elapsed;
    const next = at + 1 < edges.length ? (edges[at + 1] ?? end) : end;
    const beyond = at + 1 < edges.length ? (areas[at + 1] ?? 0) : left * end;
    return next + beyond / left;
  }

  /** How long a run lasts on average, those that were cut off considered; undefined before the first end. */
  get mean(): Duration | undefined {
    return this.count === 0 ? undefined : this.expectedRemaining(0);
  }

  /** The longest time of which anything is known. */
  get end(): Duration {
    return Math.max(this.longest, this.longestCensored);
  }

  /** All of it for JSON. */
  save(): SavedCurve {
    const bins = this.#bins.map((bin, index) => [bin, this.#ended[index] ?? 0, this.#censored[index] ?? 0] as const);
    return { sum: this.sum, longest: this.longest, longestCensored: this.longestCensored, bins };
  }

  /** What `JSON.stringify` makes of it. */
  toJSON(): SavedCurve {
    return this.save();
  }

  /** The curve that was saved. */
  static restore({ sum, longest, longestCensored, bins }: SavedCurve): TimeCurve {
    const curve = new TimeCurve();
    for (const [bin, ended, censored] of bins) {
      curve.#bins.push(bin);
      curve.#ended.push(ended);
      curve.#censored.push(censored);
      curve.count += ended;
      curve.censoredCount += censored;
    }
    return Object.assign(curve, { sum, longest, longestCensored });
  }

  /** A curve that agrees with the number, the sum and the longest of runs of which nothing else was kept. */
  static fromSums({
    count,
    sum,
    longest,
  }: {
    readonly count: number;
    readonly sum: Duration;
    readonly longest: Duration;
  }): TimeCurve {
    const curve = new TimeCurve();
    if (count === 0) return curve;
    curve.add(longest);
    const others = count - 1;
    if (others > 0) {
      const at = curve.#open(getBin(wholeTime(Math.max(0, sum - longest) / others)));
      curve.#ended[at] = (curve.#ended[at] ?? 0) + others;
    }
    return Object.assign(curve, { count, sum });
  }

  /** @throws {InvariantError} when it contradicts itself. Cost: O(bins) after a change, else O(1). */
  check(): void {
    const { ended, censored } = (this.#binned ??= this.#countBinned());
    invariant(
      ended === this.count && censored === this.censoredCount,
      () => `a curve of ${this.count} + ${this.censoredCount} runs has bins for ${ended} + ${censored}`,
    );
    invariant(
      this.longest <= Math.min(timeMax, this.sum),
      () => `the longest of a curve's runs, ${this.longest}, is beyond their sum`,
    );
  }

  /** Counts the runs of all bins, which are in order. */
  #countBinned(): { readonly ended: number; readonly censored: number } {
    let [ended, censored] = [0, 0];
    for (const [index, bin] of this.#bins.entries()) {
      invariant(index === 0 || (this.#bins[index - 1] ?? 0) < bin, 'the bins of a curve are out of order');
      ended += this.#ended[index] ?? 0;
      censored += this.#censored[index] ?? 0;
    }
    return { ended, censored };
  }

  /** The index of a bin, made where nothing fell into it yet. */
  #open(bin: number): number {
    this.#steps = undefined;
    this.#binned = undefined;
    const at = lastUpTo(this.#bins, bin);
    if (at >= 0 && this.#bins[at] === bin) return at;
    this.#bins.splice(at + 1, 0, bin);
    this.#ended.splice(at + 1, 0, 0);
    this.#censored.splice(at + 1, 0, 0);
    return at + 1;
  }

  #ask(): Steps {
    return (this.#steps ??= this.#climb());
  }

  #climb(): Steps {
    const edges: Duration[] = [];
    const lasting: number[] = [];
    let atRisk = this.count + this.censoredCount;
    let share = 1;
    for (const [index, bin] of this.#bins.entries()) {
      const ended = this.#ended[index] ?? 0;
      if (ended > 0) {
        share *= (atRisk - ended) / atRisk;
        edges.push(Math.min(longestOfBin(bin), this.longest));
        lasting.push(share);
      }
      atRisk -= ended + (this.#censored[index] ?? 0);
    }
    const { end } = this;
    return { edges, lasting, areas: integrate(edges, lasting, end), end };
  }
}

/** The integrals from each edge on. What lasts beyond the end is taken to last as long again. */
function integrate(edges: readonly Duration[], lasting: readonly number[], end: Duration): number[] {
  const areas = edges.map(() => 0);
  let area = 0;
  for (let index = edges.length - 1; index >= 0; index--) {
    const share = lasting[index] ?? 0;
    const next = edges[index + 1];
    area +=
      next === undefined ? share * (end - (edges[index] ?? 0)) + share * end : share * (next - (edges[index] ?? 0));
    areas[index] = area;
  }
  return areas;
}

/** The index of the last number up to `limit`; -1 where all are larger. */
function lastUpTo(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
