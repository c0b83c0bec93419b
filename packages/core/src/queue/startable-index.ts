import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import type { PlanEntry } from './request-list.ts';
import { WidthBucket } from './width-bucket.ts';

/** Waiting requests that may still be brought forward: what a plan looks for the next to start in. */
export interface RequestIndex {
  /** Puts a request in, or notes its new place. */
  put(entry: PlanEntry): void;
  /** Takes a request out; one that is not in stays out. */
  remove(entry: PlanEntry): void;
  /**
   * The first of at most `widthMax` that ends by `freeUntil(width)` when it starts `now`, or whose own place begins by
   * then.
   */
  findFirst(
    now: Instant,
    widthMax: ProcessorCount,
    freeUntil: (width: ProcessorCount) => Instant,
  ): PlanEntry | undefined;
}

/**
 * Waiting requests that may still be brought forward, by width, in the order of arrival.
 *
 * A machine has few distinct widths in its queue, and only those up to what is free now are searched, so that a queue
 * of thousands is done as fast as one of dozens. W is the number of such widths, n that of requests.
 */
export class StartableIndex implements RequestIndex {
  /** By width; empty ones stay. */
  readonly #byWidth = new Map<ProcessorCount, WidthBucket>();
  /** The same, narrowest first. */
  #buckets: WidthBucket[] = [];
  /**
   * Least walltime and least place of each bucket in that order: most buckets are passed over without being touched.
   */
  #least = new Float64Array(0);

  /** Puts a request in, or notes its new place. Cost: O(log n) amortised. */
  put(entry: PlanEntry): void {
    const bucket = this.#byWidth.get(entry.width) ?? this.#addBucket(entry.width);
    bucket.put(entry);
    this.#noteLeast(bucket);
  }

  /** Takes a request out; one that is not in stays out. Cost: O(log n). */
  remove(entry: PlanEntry): void {
    const bucket = this.#byWidth.get(entry.width);
    if (entry.slot < 0 || bucket === undefined) return;
    bucket.remove(entry);
    this.#noteLeast(bucket);
  }

  /**
   * The first to have arrived, of at most `widthMax`, that ends by `freeUntil(width)` when it starts `now`, or whose
   * own place begins
   * by then. Cost: O(W log n), and `freeUntil` W times.
   */
  findFirst(
    now: Instant,
    widthMax: ProcessorCount,
    freeUntil: (width: ProcessorCount) => Instant,
  ): PlanEntry | undefined {
    let first: WidthBucket | undefined;
    let slot = -1;
    let order = Infinity;
    for (let index = 0; index < this.#buckets.length; index += 1) {
      const bucket = this.#buckets[index] as WidthBucket;
      if (bucket.width > widthMax) break;
      if (this.#least[2 * index] === Infinity) continue;
      const until = freeUntil(bucket.width);
      if ((this.#least[2 * index] as Duration) > until - now && (this.#least[2 * index + 1] as Instant) > until)
        continue;
      const found = bucket.findFirst(until - now, until);
      if (found < 0 || bucket.orderOf(found) >= order) continue;
      first = bucket;
      slot = found;
      order = bucket.orderOf(found);
    }
    return first?.entryAt(slot);
  }

  #addBucket(width: ProcessorCount): WidthBucket {
    const added = new WidthBucket(width);
    this.#byWidth.set(width, added);
    this.#buckets.push(added);
    this.#buckets.sort((one, other) => one.width - other.width);
    this.#least = new Float64Array(2 * this.#buckets.length);
    this.#buckets.forEach((bucket, index) => {
      bucket.index = index;
      this.#noteLeast(bucket);
    });
    return added;
  }

  #noteLeast(bucket: WidthBucket): void {
    this.#least[2 * bucket.index] = bucket.leastWalltime;
    this.#least[2 * bucket.index + 1] = bucket.leastPlace;
  }
}
