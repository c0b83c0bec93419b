import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import type { AdmissibleSets } from './admissible.ts';

/** How fast `AdaptiveAdmissibility` follows what it sees. */
export interface AdaptiveOptions {
  /** Arrivals after which what was seen counts half. */
  readonly halfLife: number;
  /** Arrivals between two looks at a. */
  readonly every: number;
  /** Up to this load of the busiest resource nothing is restricted. */
  readonly calmLoad: number;
  /** By how much restricting may raise the load of the busiest resource: 0.02 is by 2 %. */
  readonly tolerance: number;
}

/** Follows some thousand tasks; a resource that is busy half of the time has no long queue. */
export const adaptiveDefaults: AdaptiveOptions = { halfLife: 1000, every: 50, calmLoad: 0.5, tolerance: 0.02 };

/** The most values of a that are compared, so that many resources do not make it slow. */
const choicesMax = 32;

/** What was seen of tasks that fit the same resources, with weights that fade. */
interface WidthClass {
  arrivedWidths: number;
  endedWidths: number;
  endedWork: number;
}

/**
 * An a that follows the mix of widths and the load, the seed's named future work.
 *
 * Tasks are classed by the least resource that they fit. Of each class it follows how much width arrives per time, and
 * how long a processor of it
 * runs as seen at ends: no walltimes, so that it serves every level. So it knows how busy each a would leave the
 * busiest resource if tasks were spread as
 * evenly as their admissible sets allow. It takes the least a that makes that no worse than no restriction does: narrow
 * tasks are kept off large
 * resources as far as there is room for them elsewhere. While even the busiest is below `calmLoad`, a is 1.
 */
export class AdaptiveAdmissibility {
  readonly #sets: AdmissibleSets;
  readonly #options: AdaptiveOptions;
  readonly #fading: number;
  /** Values of a at which the admissible set of some task changes, the greatest first. */
  readonly #choices: readonly number[];
  /** By f(j). */
  readonly #classes = new Map<number, WidthClass>();
  #arrivals = 0;
  /** Time between arrivals, fading like all else. */
  #elapsed = 0;
  #lastArrival: Instant | undefined;
  #value = 1;

  constructor(sets: AdmissibleSets, options: AdaptiveOptions = adaptiveDefaults) {
    this.#sets = sets;
    this.#options = options;
    this.#fading = getFading(options.halfLife);
    this.#choices = listChoices(sets);
  }

  /** Of the resources that it is about, ascending. */
  get sizes(): readonly ProcessorCount[] {
    return this.#sets.sizes;
  }

  /**
   * The same for other resources, with the observations so far: a task that fitted one of the old ones counts with the
   * width of that. Tasks that are too wide for all of the new ones are forgotten.
   */
  over(sets: AdmissibleSets): AdaptiveAdmissibility {
    const other = new AdaptiveAdmissibility(sets, this.#options);
    for (const [first, seen] of this.#classes) {
      const into = other.#getClass(this.#sets.sizes[first] as number);
      if (into === undefined) continue;
      into.arrivedWidths += seen.arrivedWidths;
      into.endedWidths += seen.endedWidths;
      into.endedWork += seen.endedWork;
    }
    [other.#arrivals, other.#elapsed, other.#lastArrival] = [this.#arrivals, this.#elapsed, this.#lastArrival];
    other.#value = this.#arrivals < this.#options.every ? 1 : other.#choose();
    return other;
  }

  /** a, in 0..1; 1 until enough was seen. */
  get value(): number {
    return this.#value;
  }

  /**
   * Notes the arrival of a task, one that is too wide for all excepted. Cost: O(classes); every so often O(choices x
   * classes^2).
   */
  noteArrival(width: ProcessorCount, now: Instant): void {
    const seen = this.#getClass(width);
    if (seen === undefined) return;
    for (const each of this.#classes.values()) fade(each, this.#fading);
    // A clock may be set back.
    this.#elapsed = this.#elapsed * this.#fading + Math.max(0, now - (this.#lastArrival ?? now));
    this.#lastArrival = now;
    seen.arrivedWidths += width;
    this.#arrivals += 1;
    if (this.#arrivals % this.#options.every === 0) this.#value = this.#choose();
  }

  /** Notes the end of a task. Cost: O(log resources). */
  noteEnd(width: ProcessorCount, runTime: Duration): void {
    const seen = this.#getClass(width);
    if (seen === undefined) return;
    seen.endedWidths += width;
    seen.endedWork += width * runTime;
  }

  /**
   * Load of the busiest resource at some a, tasks spread as evenly as can be; 1 is as much as it can do. Cost:
   * O(classes^2).
   *
   * Of classes in the order of width both ends of the admissible sets ascend, so that the least load there can be is
   * the largest that a row of
   * neighbouring classes brings to all that is admissible to any of them.
   */
  peakLoadAt(admissibility: number): number {
    const rows = [...this.#classes]
      .filter(([, { endedWidths }]) => endedWidths > 0)
      .sort(([one], [other]) => one - other)
      .map(([first, seen]) => ({
        first,
        last: this.#sets.getRange(this.#sets.sizes[first] as number, admissibility)?.last ?? first,
        load: (seen.arrivedWidths / this.#elapsed) * (seen.endedWork / seen.endedWidths),
      }));
    let peak = 0;
    for (const [index, { first }] of rows.entries()) {
      let load = 0;
      for (let other = index; other < rows.length; other += 1) {
        const row = rows[other] as (typeof rows)[number];
        load += row.load;
        peak = Math.max(peak, load / this.#sets.sum(first, row.last));
      }
    }
    return peak;
  }

  #choose(): number {
    if (this.#elapsed === 0) return 1;
    const unrestricted = this.peakLoadAt(1);
    if (unrestricted <= this.#options.calmLoad) return 1;
    const most = unrestricted * (1 + this.#options.tolerance);
    let best = 1;
    for (const choice of this.#choices) {
      if (this.peakLoadAt(choice) > most) break;
      best = choice;
    }
    return best;
  }

  #getClass(width: ProcessorCount): WidthClass | undefined {
    const first = this.#sets.firstOf(width);
    if (first === undefined) return undefined;
    const found = this.#classes.get(first) ?? { arrivedWidths: 0, endedWidths: 0, endedWork: 0 };
    this.#classes.set(first, found);
    return found;
  }
}

/** Between two of these values all admissible sets are the same. */
function listChoices(sets: AdmissibleSets): number[] {
  const found = new Set<number>();
  const end = sets.sizes.length - 1;
  for (let first = 0; first <= end; first += 1) {
    if (sets.sizes[first] === sets.sizes[first - 1]) continue;
    for (let last = first; last <= end; last += 1) found.add(sets.sum(first, last) / sets.sum(first, end));
  }
  const all = [...found].sort((one, other) => other - one);
  const step = Math.max(1, all.length / choicesMax);
  return Array.from(
    { length: Math.min(all.length, choicesMax) },
    (_, index) => all[Math.floor(index * step)] as number,
  );
}

function fade(seen: WidthClass, by: number): void {
  seen.arrivedWidths *= by;
  seen.endedWidths *= by;
  seen.endedWork *= by;
}

/** About 1/2 to the power of 1 / halfLife, by + - * / alone. */
function getFading(halfLife: number): number {
  return 1 - 0.693_147_180_559_945_3 / halfLife;
}
