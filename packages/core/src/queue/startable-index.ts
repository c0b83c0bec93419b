import type { Instant, ProcessorCount } from '../shared/index.ts';
import type { PlanEntry } from './request-list.ts';
import { WidthBucket } from './width-bucket.ts';

/**
 * Waiting requests that may still be brought forward, by width.
 *
 * A machine has few distinct widths in its queue, and only those up to what is free now are looked at, so that a queue of
 * thousands is searched as fast as one of dozens. W is the number of such widths, n that of requests.
 */
export class StartableIndex {
  /** By width; empty ones stay. */
  readonly #byWidth = new Map<ProcessorCount, WidthBucket>();
  /** The same, narrowest first. */
  #buckets: WidthBucket[] = [];

  /** Puts a request in, or notes its new place. Cost: O(log n) amortised. */
  put(entry: PlanEntry): void {
    let bucket = this.#byWidth.get(entry.width);
    if (bucket === undefined) {
      bucket = new WidthBucket(entry.width);
      this.#byWidth.set(entry.width, bucket);
      this.#buckets.push(bucket);
      this.#buckets.sort((one, other) => one.width - other.width);
    }
    bucket.put(entry);
  }

  /** Takes a request out; one that is not in stays out. Cost: O(log n). */
  remove(entry: PlanEntry): void {
    const bucket = this.#byWidth.get(entry.width);
    if (entry.slot < 0 || bucket === undefined) return;
    bucket.remove(entry);
  }

  /**
   * The first to have arrived, of at most `widthMax`, that ends by `freeUntil(width)` when it starts `now`, or whose own place begins
   * by then. Cost: O(W log n), and `freeUntil` W times.
   */
  findFirst(now: Instant, widthMax: ProcessorCount, freeUntil: (width: ProcessorCount) => Instant): PlanEntry | undefined {
    let first: PlanEntry | undefined;
    for (const bucket of this.#buckets) {
      if (bucket.width > widthMax) break;
      if (bucket.size === 0) continue;
      const until = freeUntil(bucket.width);
      const found = bucket.findFirst(until - now, until);
      if (found !== undefined && (first === undefined || found.order < first.order)) first = found;
    }
    return first;
  }
}
