import type { Slot } from '../resources/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/** A request as a queue policy sees it. */
export interface PlannedRequest {
  /** The resource's number for it. */
  readonly id: number;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** What it is a whole number of; undefined for single processors. */
  readonly shape: Slot | undefined;
  /** The lower one goes first; of equals the one that came first. */
  readonly rank: number;
  /** When it starts or started; undefined while it has no place. */
  readonly startsAt: Instant | undefined;
  /** The one behind it among those that wait, or among those that run. */
  readonly next: PlannedRequest | undefined;
}

/** What an entry is made of. */
type EntryTerms = Pick<PlannedRequest, 'id' | 'width' | 'walltime'> & { readonly shape?: Slot | undefined };

/** A request as the plan keeps it. */
export class PlanEntry implements PlannedRequest {
  readonly id: number;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  readonly shape: Slot | undefined;
  /** Grows with arrival. */
  readonly order: number;
  /** The lower one goes first. */
  readonly rank: number;
  /** Start of its place; Infinity while it has none. */
  place: Instant = Infinity;
  next: PlanEntry | undefined = undefined;
  previous: PlanEntry | undefined = undefined;
  /** Its index in the plan's heap of places; -1 while it is not in there. */
  heapIndex = -1;
  /** Its slot in the index of startable requests; -1 while it is not in there. */
  slot = -1;

  constructor(order: number, rank: number, { id, width, walltime, shape }: EntryTerms) {
    this.id = id;
    this.width = width;
    this.walltime = walltime;
    this.shape = shape;
    this.order = order;
    this.rank = rank;
  }

  get startsAt(): Instant | undefined {
    return this.place === Infinity ? undefined : this.place;
  }
}

/** Whether a request goes before another one: by rank, and by arrival where ranks are equal. */
export function goesBefore(one: PlanEntry, other: PlanEntry): boolean {
  return one.rank < other.rank || (one.rank === other.rank && one.order < other.order);
}

/** Requests in an order of their own, found by their number. Every operation is O(1). */
export interface RequestList {
  readonly size: number;
  /** The head; the others follow by `next`. */
  readonly first: PlannedRequest | undefined;
  has(id: number): boolean;
  get(id: number): PlannedRequest | undefined;
  keys(): IterableIterator<number>;
  /** In order; the one that was yielded last may be taken out meanwhile. */
  values(): IterableIterator<PlannedRequest>;
}

/** A doubly linked list: unlike a Map, it has no holes to skip after many were taken from its head. */
export class EntryList implements RequestList {
  readonly #byId = new Map<number, PlanEntry>();
  #first: PlanEntry | undefined;
  #last: PlanEntry | undefined;

  get size(): number {
    return this.#byId.size;
  }

  get first(): PlanEntry | undefined {
    return this.#first;
  }

  get last(): PlanEntry | undefined {
    return this.#last;
  }

  has(id: number): boolean {
    return this.#byId.has(id);
  }

  get(id: number): PlanEntry | undefined {
    return this.#byId.get(id);
  }

  *keys(): Generator<number> {
    for (const { id } of this.values()) yield id;
  }

  *values(): Generator<PlanEntry> {
    let next: PlanEntry | undefined;
    for (let entry = this.#first; entry !== undefined; entry = next) {
      next = entry.next;
      yield entry;
    }
  }

  /** Puts an entry that is in no list behind the last one. */
  append(entry: PlanEntry): void {
    this.insert(entry, this.#last);
  }

  /** Puts an entry that is in no list behind one of this list, or before all without one. */
  insert(entry: PlanEntry, previous: PlanEntry | undefined): void {
    const next = previous === undefined ? this.#first : previous.next;
    entry.previous = previous;
    entry.next = next;
    if (previous === undefined) this.#first = entry;
    else previous.next = entry;
    if (next === undefined) this.#last = entry;
    else next.previous = entry;
    this.#byId.set(entry.id, entry);
  }

  /** Takes out an entry of this list. */
  remove(entry: PlanEntry): void {
    const { previous, next } = entry;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    entry.previous = undefined;
    entry.next = undefined;
    this.#byId.delete(entry.id);
  }
}
