import type { QueueListing, ResourceLimits } from '../messages/index.ts';
import type { FreeTime } from '../profile/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import { readQueue } from './read-queue.ts';

/** A queue as it was read, for questions about requests that are not in it. */
export class QueueForecast {
  readonly #free: FreeTime;
  readonly #limits: ResourceLimits;

  /** Cost: as `readQueue`. */
  constructor(now: Instant, limits: ResourceLimits, listing: QueueListing) {
    this.#free = readQueue({ now, limits, listing }).free;
    this.#limits = limits;
  }

  /**
   * When a request would start that came last: who runs ends with the walltime, who waits gets the first hole in the order of arrival. Undefined where it is too wide.
   *
   * Cost: O(segments).
   */
  startOf(width: ProcessorCount, walltime: Duration): Instant | undefined {
    if (width > this.#limits.processors) return undefined;
    return this.#free.startOf(this.#free.findEarliest(width, walltime, this.#free.first));
  }
}
