import type { Instant } from '../shared/index.ts';
import type { PlanEntry } from './request-list.ts';

/** Waiting requests by the start of their place; each knows where it is, so that it can move. Every operation is O(log size). */
export class PlaceHeap {
  /** The place of the entry at i is no later than those at 2i + 1 and 2i + 2. */
  readonly #entries: PlanEntry[] = [];

  /** The earliest place; Infinity without an entry. */
  get earliest(): Instant {
    return this.#entries[0]?.place ?? Infinity;
  }

  /** Puts an entry in, or where it belongs since its place changed. */
  put(entry: PlanEntry): void {
    if (entry.heapIndex < 0) {
      entry.heapIndex = this.#entries.length;
      this.#entries.push(entry);
    }
    this.#rise(entry, entry.heapIndex);
    this.#sink(entry, entry.heapIndex);
  }

  /** Takes an entry out; one that is not in stays out. */
  remove(entry: PlanEntry): void {
    const index = entry.heapIndex;
    if (index < 0) return;
    entry.heapIndex = -1;
    const last = this.#entries.pop() as PlanEntry;
    if (last === entry) return;
    this.#set(index, last);
    this.put(last);
  }

  /** Takes out the entry with the earliest place, unless that is later than `at`. */
  take(at: Instant): PlanEntry | undefined {
    const first = this.#entries[0];
    if (first === undefined || first.place > at) return undefined;
    this.remove(first);
    return first;
  }

  #rise(entry: PlanEntry, from: number): void {
    let hole = from;
    while (hole > 0) {
      const parent = this.#entries[(hole - 1) >>> 1] as PlanEntry;
      if (parent.place <= entry.place) break;
      this.#set(hole, parent);
      hole = (hole - 1) >>> 1;
    }
    this.#set(hole, entry);
  }

  #sink(entry: PlanEntry, from: number): void {
    let hole = from;
    for (let child = 2 * hole + 1; child < this.#entries.length; child = 2 * hole + 1) {
      const right = this.#entries[child + 1];
      if (right !== undefined && right.place < (this.#entries[child] as PlanEntry).place) child += 1;
      const least = this.#entries[child] as PlanEntry;
      if (least.place >= entry.place) break;
      this.#set(hole, least);
      hole = child;
    }
    this.#set(hole, entry);
  }

  #set(index: number, entry: PlanEntry): void {
    this.#entries[index] = entry;
    entry.heapIndex = index;
  }
}
