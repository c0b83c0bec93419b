import { invariant } from '../shared/index.ts';
import type { ProcessorCount } from '../shared/index.ts';

/** Admissible resources of a task: those from `first` to `last` in the order of size, both included. */
export interface AdmissibleRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Which resources a task of some width may go to, of resources in the order of their size.
 *
 * Available are all from the least that is wide enough, f(j), on; admissible are f(j)..r(j), r(j) being the least index
 * with
 * m(f, r) >= a x m(f, m). So narrow tasks are kept off large resources; a = 1 restricts nothing, and a = 0 leaves f(j)
 * alone.
 *
 * @source gonzalez2010, section 3.
 */
export class AdmissibleSets {
  /** Processors of each resource, the least first. */
  readonly sizes: readonly ProcessorCount[];
  /** At i, the processors of the resources before i. */
  readonly #before: number[] = [0];

  /** @param sizes from the least to the greatest. @throws {InvariantError} when they are in another order. */
  constructor(sizes: readonly ProcessorCount[]) {
    this.sizes = sizes;
    sizes.forEach((size, index) => {
      invariant(
        index === 0 || (sizes[index - 1] as number) <= size,
        `resource ${index} has ${size} processors, fewer than the one before it`,
      );
      this.#before.push((this.#before[index] as number) + size);
    });
  }

  /** Processors of the widest resource; 0 without one. */
  get widest(): ProcessorCount {
    return this.sizes.at(-1) ?? 0;
  }

  /** The processors of the resources `first`..`last`, m(first, last). */
  sum(first: number, last: number): number {
    return (this.#before[last + 1] as number) - (this.#before[first] as number);
  }

  /**
   * The least resource of at least `width` processors, f(j); undefined where none is as wide. Cost: O(log resources).
   */
  firstOf(width: ProcessorCount): number | undefined {
    const first = firstWith(this.sizes.length, (index) => (this.sizes[index] as number) >= width);
    return first < this.sizes.length ? first : undefined;
  }

  /**
   * The admissible resources of a task; undefined where none is as wide. Cost: O(log resources).
   *
   * @param admissibility a, in 0..1. @throws {InvariantError} for one out of that range.
   */
  getRange(width: ProcessorCount, admissibility: number): AdmissibleRange | undefined {
    invariant(admissibility >= 0 && admissibility <= 1, `admissibility is ${admissibility}; expected 0..1`);
    const first = this.firstOf(width);
    if (first === undefined) return undefined;
    const end = this.sizes.length - 1;
    const wanted = admissibility * this.sum(first, end);
    // Sums are whole, so that a product which should be whole and is not by rounding asks for no resource more.
    const last = first + firstWith(end - first, (index) => this.sum(first, first + index) >= wanted * (1 - 1e-12));
    return { first, last };
  }
}

/** The least index below `end` for which something holds that holds for all after it; `end` where there is none. */
function firstWith(end: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
