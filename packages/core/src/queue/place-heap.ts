import type { Instant } from '../shared/index.ts';
import type { PlanEntry } from './request-list.ts';

/** Children of a node: their places lie side by side in memory. */
const arity = 4;

/**
 * Waiting requests by the start of their place; each knows where it is, so that it can move. Every operation is O(log
 * size).
 *
 * Places are kept apart from the requests, since those of a long queue are spread over memory and a move would wait for
 * each it passes.
 */
export class PlaceHeap {
  /** The place of the entry at i is no later than those at 4i + 1 to 4i + 4. */
  readonly #entries: PlanEntry[] = [];
  /** Of the entry at the same index; what is beyond the last one is of no meaning. */
  #places = new Float64Array(16);

  /** The earliest place; Infinity without an entry. */
  get earliest(): Instant {
    return this.#entries.length === 0 ? Infinity : (this.#places[0] as Instant);
  }

  /** Puts an entry in, or where it belongs since its place changed. */
  put(entry: PlanEntry): void {
    let index = entry.heapIndex;
    if (index < 0) {
      index = this.#entries.length;
      this.#entries.push(entry);
      if (index === this.#places.length) this.#grow();
    }
    this.#settle(entry, index);
  }

  /** Takes an entry out; one that is not in stays out. */
  remove(entry: PlanEntry): void {
    const index = entry.heapIndex;
    if (index < 0) return;
    entry.heapIndex = -1;
    const last = this.#entries.pop() as PlanEntry;
    if (last !== entry) this.#settle(last, index);
  }

  /** Takes out the entry with the earliest place, unless that is later than `at`. */
  take(at: Instant): PlanEntry | undefined {
    if (this.earliest > at) return undefined;
    const first = this.#entries[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Puts an entry where it belongs, from a free index on. */
  #settle(entry: PlanEntry, from: number): void {
    const { place } = entry;
    const risen = this.#rise(place, from);
    const hole = risen === from ? this.#sink(place, from) : risen;
    this.#set(hole, entry, place);
  }

  /** Moves a free index up to where a place belongs; returns it. */
  #rise(place: Instant, from: number): number {
    let hole = from;
    while (hole > 0) {
      const parent = Math.floor((hole - 1) / arity);
      const above = this.#places[parent] as Instant;
      if (above <= place) break;
      this.#set(hole, this.#entries[parent] as PlanEntry, above);
      hole = parent;
    }
    return hole;
  }

  /** Moves a free index down to where a place belongs; returns it. */
  #sink(place: Instant, from: number): number {
    const { length } = this.#entries;
    let hole = from;
    for (let first = arity * hole + 1; first < length; first = arity * hole + 1) {
      let least = first;
      for (let child = first + 1; child < Math.min(first + arity, length); child += 1) {
        if ((this.#places[child] as Instant) < (this.#places[least] as Instant)) least = child;
      }
      const below = this.#places[least] as Instant;
      if (below >= place) break;
      this.#set(hole, this.#entries[least] as PlanEntry, below);
      hole = least;
    }
    return hole;
  }

  #set(index: number, entry: PlanEntry, place: Instant): void {
    this.#entries[index] = entry;
    this.#places[index] = place;
    entry.heapIndex = index;
  }

  #grow(): void {
    const places = new Float64Array(2 * this.#places.length);
    places.set(this.#places);
    this.#places = places;
  }
}
