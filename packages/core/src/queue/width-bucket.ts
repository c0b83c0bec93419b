import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import type { PlanEntry } from './request-list.ts';

/**
 * Waiting requests of one width in the order of arrival, searched by walltime and by place.
 *
 * Two trees of minima over the slots, in which the node i covers 2i and 2i + 1 and leaves are at `slotCount` and up. n is the
 * number of requests.
 */
export class WidthBucket {
  readonly width: ProcessorCount;
  /** By slot; undefined where none is, or none is any more. */
  #entries: (PlanEntry | undefined)[] = [];
  #walltimes = new Float64Array(2).fill(Infinity);
  #places = new Float64Array(2).fill(Infinity);
  #slotCount = 1;
  #used = 0;
  #size = 0;

  constructor(width: ProcessorCount) {
    this.width = width;
  }

  get size(): number {
    return this.#size;
  }

  /** Puts a request in, or notes its new place. Cost: O(log n) amortised; O(n log n) for one that is not the last to have arrived. */
  put(entry: PlanEntry): void {
    if (entry.slot < 0) this.#add(entry);
    this.#set(this.#places, entry.slot, entry.place);
  }

  /** Takes a request out that is in. Cost: O(log n). */
  remove(entry: PlanEntry): void {
    this.#entries[entry.slot] = undefined;
    this.#set(this.#walltimes, entry.slot, Infinity);
    this.#set(this.#places, entry.slot, Infinity);
    entry.slot = -1;
    this.#size -= 1;
  }

  /** The first to have arrived whose walltime is at most `walltimeMax` or whose place begins by `placeMax`. Cost: O(log n). */
  findFirst(walltimeMax: Duration, placeMax: Instant): PlanEntry | undefined {
    const byWalltime = this.#firstSlot(this.#walltimes, walltimeMax);
    const byPlace = this.#firstSlot(this.#places, placeMax);
    return this.#entries[Math.min(byWalltime, byPlace)];
  }

  #add(entry: PlanEntry): void {
    const last = this.#entries[this.#used - 1];
    if (this.#used === this.#slotCount || (last !== undefined && last.order > entry.order)) return this.#rebuild(entry);
    entry.slot = this.#used;
    this.#entries[entry.slot] = entry;
    this.#used += 1;
    this.#size += 1;
    this.#set(this.#walltimes, entry.slot, entry.walltime);
  }

  /** Numbers the slots anew, with room for as many again. */
  #rebuild(added: PlanEntry): void {
    const living = this.#entries.filter((entry) => entry !== undefined);
    living.push(added);
    if ((living[living.length - 2]?.order ?? -1) > added.order) living.sort((one, other) => one.order - other.order);
    while (this.#slotCount < 2 * living.length) this.#slotCount *= 2;
    this.#walltimes = new Float64Array(2 * this.#slotCount).fill(Infinity);
    this.#places = new Float64Array(2 * this.#slotCount).fill(Infinity);
    this.#entries = living;
    this.#used = living.length;
    this.#size = living.length;
    living.forEach((entry, slot) => {
      entry.slot = slot;
      this.#set(this.#walltimes, slot, entry.walltime);
      this.#set(this.#places, slot, entry.place);
    });
  }

  #set(tree: Float64Array, slot: number, value: number): void {
    let node = slot + this.#slotCount;
    tree[node] = value;
    for (node >>>= 1; node > 0; node >>>= 1) {
      const least = Math.min(tree[2 * node] as number, tree[2 * node + 1] as number);
      if (tree[node] === least) return;
      tree[node] = least;
    }
  }

  /** The first slot whose value is at most `valueMax`; Infinity without one. */
  #firstSlot(tree: Float64Array, valueMax: number): number {
    // Slots that are not in use hold Infinity; they are never wanted, not even by one who takes anything.
    const most = Math.min(valueMax, Number.MAX_VALUE);
    if ((tree[1] as number) > most) return Infinity;
    let node = 1;
    while (node < this.#slotCount) node = (tree[2 * node] as number) <= most ? 2 * node : 2 * node + 1;
    return node - this.#slotCount;
  }
}
