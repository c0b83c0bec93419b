import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import type { AdmissibleSets } from './admissible.ts';

/** How fast `AdaptiveAdmissibility` follows what it sees. */
export interface AdaptiveOptions {
  /** Arrivals after which what was seen counts half. */
  readonly halfLife: number;
  /** Arrivals between two looks at a. */
  readonly every: number;
  /** Up to this load of the busiest resource, spread over all that are wide enough, nothing is restricted. */
  readonly calmLoad: number;
}

/** Follows some thousand tasks; calm is what a queue without backfilling can mostly serve. */
export const adaptiveDefaults: AdaptiveOptions = { halfLife: 1000, every: 50, calmLoad: 0.7 };

/** Values of a that are looked at, at most: so that many resources do not make it slow. */
const choicesMax = 32;

/** What was seen of tasks that fit the same resources, with weights that fade. */
interface WidthClass { arrivedWidths: number; endedWidths: number; endedWork: number }

/**
 * An a that follows the mix of widths and the load, the seed's named future work.
 *
 * Tasks are classed by the least resource that they fit. Of each class it follows how much width arrives per time, and how long a processor of it
 * runs as seen at ends: no walltimes, so that it serves every level. The load that each a would give each resource, a class being spread over its
 * admissible resources by their size, is then known; the a whose busiest resource is least loaded is taken, the greatest of equal ones. While the
 * busiest of a = 1 is below `calmLoad`, that is 1.
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
    this.#fading = fadingOf(options.halfLife);
    this.#choices = listChoices(sets);
  }

  /** a, in 0..1; 1 until enough was seen. */
  get value(): number {
    return this.#value;
  }

  /** Notes the arrival of a task, one that is too wide for all excepted. Cost: O(classes); every so often O(choices x resources x classes). */
  noteArrival(width: ProcessorCount, now: Instant): void {
    const seen = this.#classOf(width);
    if (seen === undefined) return;
    for (const each of this.#classes.values()) fade(each, this.#fading);
    this.#elapsed = this.#elapsed * this.#fading + now - (this.#lastArrival ?? now);
    this.#lastArrival = now;
    seen.arrivedWidths += width;
    this.#arrivals += 1;
    if (this.#arrivals % this.#options.every === 0) this.#value = this.#choose();
  }

  /** Notes the end of a task. Cost: O(log resources). */
  noteEnd(width: ProcessorCount, runTime: Duration): void {
    const seen = this.#classOf(width);
    if (seen === undefined) return;
    seen.endedWidths += width;
    seen.endedWork += width * runTime;
  }

  /** Load of the busiest resource at some a; 1 is as much as it can do. Cost: O(resources x classes). */
  peakLoadAt(admissibility: number): number {
    const loads = new Float64Array(this.#sets.sizes.length);
    for (const [first, { arrivedWidths, endedWidths, endedWork }] of this.#classes) {
      const range = this.#sets.rangeOf(this.#sets.sizes[first] as number, admissibility);
      if (range === undefined || endedWidths === 0 || this.#elapsed === 0) continue;
      const load = (arrivedWidths / this.#elapsed) * (endedWork / endedWidths) / this.#sets.sum(range.first, range.last);
      for (let index = range.first; index <= range.last; index += 1) loads[index] = (loads[index] as number) + load;
    }
    return loads.reduce((most, load) => Math.max(most, load), 0);
  }

  #choose(): number {
    let [best, least] = [1, this.peakLoadAt(1)];
    if (least <= this.#options.calmLoad) return 1;
    for (const choice of this.#choices) {
      const peak = this.peakLoadAt(choice);
      if (peak < least * (1 - 1e-9)) [best, least] = [choice, peak];
    }
    return best;
  }

  #classOf(width: ProcessorCount): WidthClass | undefined {
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
  return Array.from({ length: Math.min(all.length, choicesMax) }, (_, index) => all[Math.floor(index * step)] as number);
}

function fade(seen: WidthClass, by: number): void {
  seen.arrivedWidths *= by;
  seen.endedWidths *= by;
  seen.endedWork *= by;
}

/** About 1/2 to the power of 1 / halfLife, by + - * / alone. */
function fadingOf(halfLife: number): number {
  return 1 - 0.693_147_180_559_945_3 / halfLife;
}
