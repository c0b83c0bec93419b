import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import { LeastTree } from './least-tree.ts';
import type { PlanEntry } from './request-list.ts';

/**
 * Waiting requests of one width in the order of arrival, searched by walltime and by place. n is the number of
 * requests.
 */
export class WidthBucket {
  readonly width: ProcessorCount;
  /** Its rank among the buckets of the index. */
  index = 0;
  /** By slot; undefined where none is, or none is any more. */
  #entries: (PlanEntry | undefined)[] = [];
  /** When the entry in a slot arrived; what is in a slot without one is of no meaning. */
  #orders = new Float64Array(8);
  /** Walltimes and places, by slot. */
  #tree = new LeastTree(1);
  #used = 0;

  constructor(width: ProcessorCount) {
    this.width = width;
  }

  get leastWalltime(): Duration {
    return this.#tree.leastFirst;
  }

  get leastPlace(): Instant {
    return this.#tree.leastSecond;
  }

  /**
   * Puts a request in, or notes its new place. Cost: O(log n) amortised; O(n) for one that is not the last to have
   * arrived.
   */
  put(entry: PlanEntry): void {
    if (entry.slot < 0) this.#add(entry);
    else this.#tree.set(entry.slot, entry.walltime, entry.place);
  }

  /** Takes a request out that is in. Cost: O(log n). */
  remove(entry: PlanEntry): void {
    this.#entries[entry.slot] = undefined;
    this.#tree.set(entry.slot, Infinity, Infinity);
    entry.slot = -1;
  }

  /**
   * The slot of the first to have arrived whose walltime is at most `walltimeMax` or whose place begins by `placeMax`;
   * -1 without one. Cost: O(log n).
   */
  findFirst(walltimeMax: Duration, placeMax: Instant): number {
    return this.#tree.findFirst(walltimeMax, placeMax);
  }

  /** The `order` of the request in a slot. */
  orderOf(slot: number): number {
    return this.#orders[slot] as number;
  }

  /** The request in a slot. */
  entryAt(slot: number): PlanEntry | undefined {
    return this.#entries[slot];
  }

  #add(entry: PlanEntry): void {
    const last = this.#entries[this.#used - 1];
    if (this.#used === this.#tree.size || (last !== undefined && last.order > entry.order)) return this.#rebuild(entry);
    entry.slot = this.#used;
    this.#entries[entry.slot] = entry;
    this.#orders[entry.slot] = entry.order;
    this.#used += 1;
    this.#tree.set(entry.slot, entry.walltime, entry.place);
  }

  /** Numbers the slots again, with room for as many again. */
  #rebuild(added: PlanEntry): void {
    const living = this.#entries.filter((entry) => entry !== undefined);
    living.push(added);
    if ((living[living.length - 2]?.order ?? -1) > added.order) living.sort((one, other) => one.order - other.order);
    this.#tree = new LeastTree(2 * living.length);
    this.#orders = new Float64Array(this.#tree.size);
    this.#entries = living;
    this.#used = living.length;
    living.forEach((entry, slot) => {
      entry.slot = slot;
      this.#orders[slot] = entry.order;
      this.#tree.set(slot, entry.walltime, entry.place);
    });
  }
}
