import type { QueueListing, ResourceLimits } from '../messages/index.ts';
import type { FreeTime } from '../profile/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import { ownRank } from './own-rank.ts';
import { readQueue } from './read-queue.ts';

/** A queue as it was read, for questions about requests that are not in it. */
export class QueueForecast {
  readonly #now: Instant;
  readonly #limits: ResourceLimits;
  readonly #listing: QueueListing;
  /** By the number of requests that would give way. */
  readonly #free = new Map<number, FreeTime>();

  constructor(now: Instant, limits: ResourceLimits, listing: QueueListing) {
    this.#now = now;
    this.#limits = limits;
    this.#listing = listing;
  }

  /**
   * When a request that came last would start: running ones end with their walltime, and waiting ones get the first
   * hole in the order of the queue, except those that would be behind it. Undefined if it is too wide.
   *
   * Cost: as `readQueue` for each number of requests behind it, once; then O(segments).
   */
  startOf(width: ProcessorCount, walltime: Duration): Instant | undefined {
    if (width > this.#limits.processors) return undefined;
    const free = this.#freeBefore(ownRank(this.#listing, walltime, this.#now));
    return free.startOf(free.findEarliest(width, walltime, free.first));
  }

  #freeBefore(rank: Instant): FreeTime {
    const behindCount =
      rank === Infinity ? 0 : this.#listing.requests.filter(({ rankedAt = -Infinity }) => rankedAt > rank).length;
    const known = this.#free.get(behindCount);
    if (known !== undefined) return known;
    const { free } = readQueue({ now: this.#now, limits: this.#limits, listing: this.#listing }, { rank });
    this.#free.set(behindCount, free);
    return free;
  }
}
