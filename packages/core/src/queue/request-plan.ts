import { AvailabilityProfile } from '../profile/index.ts';
import type { Slot } from '../resources/index.ts';
import { InvariantError } from '../shared/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import { OrderTree, type Ahead } from './order-tree.ts';
import { PlaceHeap } from './place-heap.ts';
import { RankedIndex } from './ranked-index.ts';
import { EntryList, goesBefore, PlanEntry, type PlannedRequest, type RequestList } from './request-list.ts';
import { StartableIndex, type RequestIndex } from './startable-index.ts';
import { ReservationBlocks, type ReservationBlock } from './reservation-blocks.ts';

/** What a plan needs of a request. */
export interface RequestTerms {
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** What it is a whole number of, where nodes are known; undefined for single processors. */
  readonly shape?: Slot | undefined;
}

/** What an order by ranks needs of a request. */
export interface RankedRequest extends RequestTerms {
  readonly rank: number;
}

/**
 * The requests of one space-shared resource, and the profile of the processors that they leave free.
 *
 * Invariant: the profile is the capacity minus every placed or running request over [startsAt, startsAt + walltime) and
 * minus the reservationBlocks. It is changed by `add`, `place`, `start`, `end`, `blockReservation` and
 * `unblockReservation` only, so that its owner can journal them. Time does not run backwards: a request that was due
 * once stays due until it is placed again, starts or ends. n is the number of waiting requests below.
 */
export class RequestPlan {
  readonly kind = 'processors';
  #profile: AvailabilityProfile;
  readonly #waiting = new EntryList();
  readonly #running = new EntryList();
  /** Waiting requests with a place, but those in `#due`. */
  readonly #places = new PlaceHeap();
  /** When it was last seen which places have begun. */
  #dueUntil: Instant = -Infinity;
  /** Waiting requests whose place was seen to have begun by then. */
  readonly #due = new Set<PlanEntry>();
  /** Waiting requests that are not in `#due`; made when it is first asked for, since not every policy does. */
  #startable: RequestIndex | undefined;
  /**
   * All waiting requests; made when one first comes that is not the last in the order, since under most policies none
   * does.
   */
  #order: OrderTree | undefined;
  /** The first waiting request without a place. */
  #firstUnplaced: PlanEntry | undefined;
  #addedCount = 0;
  /** Processors of running requests and of those in `#due`. */
  #held: ProcessorCount = 0;
  #reservationBlocks = new ReservationBlocks();

  /** @param from nothing before it matters. */
  constructor(capacity: ProcessorCount, from: Instant) {
    this.#profile = new AvailabilityProfile(capacity, from);
  }

  /** To be read, not written. */
  get profile(): AvailabilityProfile {
    return this.#profile;
  }

  get capacity(): ProcessorCount {
    return this.#profile.capacity;
  }

  /** The first instant that the plan knows. */
  get from(): Instant {
    return this.#profile.from;
  }

  /** Requests that have not started, in their order: by rank, and by arrival where that is the same. */
  get waiting(): RequestList {
    return this.#waiting;
  }

  /** Requests that started and have not ended, in the order in which they started. */
  get running(): RequestList {
    return this.#running;
  }

  /** The first waiting request without a place; undefined when each has one. */
  get firstUnplaced(): PlannedRequest | undefined {
    return this.#firstUnplaced;
  }

  /** Processors set aside, in the order in which they were. */
  get reservationBlocks(): Pick<ReservationBlocks, 'size' | 'values'> {
    return this.#reservationBlocks;
  }

  /** An independent copy. Cost: O(n + running + segments). */
  clone(): RequestPlan {
    const copy = new RequestPlan(this.#profile.capacity, this.#profile.from);
    copy.#profile = this.#profile.clone();
    for (const entry of this.#running.values()) copy.#running.append(getCopy(entry));
    for (const entry of this.#waiting.values()) {
      const twin = getCopy(entry);
      copy.#waiting.append(twin);
      if (twin.place < Infinity) copy.#places.put(twin);
      else copy.#firstUnplaced ??= twin;
    }
    copy.#reservationBlocks = this.#reservationBlocks.clone();
    copy.#addedCount = this.#addedCount;
    for (const { width } of this.#running.values()) copy.#held += width;
    if (this.#order !== undefined) copy.#makeOrder();
    return copy;
  }

  /**
   * Adds a request without a place, behind all of the same or a lower rank. Cost: O(log n); O(n log n) the first time
   * that it does not become the last.
   *
   * @param rank any number; the same for all if the order is that of arrival.
   */
  add(id: number, width: ProcessorCount, walltime: Duration, rank = 0): void {
    const entry = new PlanEntry(this.#addedCount, rank, { id, width, walltime });
    this.#addedCount += 1;
    const { last } = this.#waiting;
    const isLast = last === undefined || last.rank <= rank;
    const previous = isLast ? last : (this.#order ?? this.#makeOrder()).findLastBefore(entry);
    this.#waiting.insert(entry, previous);
    this.#order?.add(entry);
    this.#noteFirstUnplaced(entry);
    this.#startable?.put(entry);
  }

  /**
   * What waits, with or without a place, that one who arrived now with this rank would be behind. Cost: O(log n); O(n
   * log n) the first time.
   */
  sumProvisioning(rank: number): Ahead {
    return (this.#order ?? this.#makeOrder()).sumProvisioning(rank);
  }

  /**
   * Gives a waiting request a place, or another one, or takes its own away. Cost: O(log n + segments of both). @throws
   * {InvariantError} when it does not fit there.
   */
  place(id: number, startsAt: Instant | undefined): void {
    const entry = this.#getWaiting(id);
    this.#vacate(entry);
    if (startsAt === undefined) return this.#noteUnplaced(entry);
    this.#profile.reserve(entry.width, startsAt, startsAt + entry.walltime);
    entry.place = startsAt;
    this.#dropDue(entry);
    // One that starts now need not go through the heap, where it would pass everybody else's place twice.
    if (startsAt <= this.#dueUntil) {
      this.#places.remove(entry);
      this.#noteOneDue(entry);
    } else {
      this.#places.put(entry);
      this.#startable?.put(entry);
    }
    while (this.#firstUnplaced !== undefined && this.#firstUnplaced.place < Infinity)
      this.#firstUnplaced = this.#firstUnplaced.next;
  }

  /** Makes a placed request a running one; its place stays what it was. Cost: O(log n). */
  start(id: number): void {
    const entry = this.#getWaiting(id);
    if (entry.place === Infinity) throw new InvariantError(`request ${id} starts without a place`);
    this.#takeOut(entry);
    this.#running.append(entry);
    this.#held += entry.width;
  }

  /** Takes a request out; what it would still have held is free again. Cost: O(log n + segments of its place). */
  end(id: number, at: Instant): void {
    const running = this.#running.get(id);
    const entry = running ?? this.#getWaiting(id);
    const { width, place, walltime } = entry;
    if (place < Infinity) this.#profile.shorten(width, Math.max(at, place), place + walltime);
    if (running === undefined) return this.#takeOut(entry);
    this.#running.remove(running);
    this.#held -= width;
    this.#reservationBlocks.topUp(this.#profile);
  }

  /** Whether a block fits in addition to all requests that have a place. Cost: O(log n + segments of it). */
  fitsWall({ start, end, count }: ReservationBlock): boolean {
    return this.#profile.minFree(Math.max(start, this.#profile.from), end) >= count;
  }

  /**
   * Sets processors aside. If too few are free, takes the free ones, and more as running requests end: block a
   * reservation before waiting requests have places there, since they do not give way. Cost: O(log n + segments of it).
   */
  blockReservation(reservationBlock: ReservationBlock): void {
    this.#reservationBlocks.raise(this.#profile, reservationBlock);
  }

  /** No longer sets processors aside; without effect if there is no such block. Cost: as `blockReservation`. */
  unblockReservation(id: number): void {
    this.#reservationBlocks.raze(this.#profile, id);
  }

  /** Forgets the profile before an instant. */
  forget(before: Instant): void {
    this.#profile.forget(before);
  }

  /** Waiting requests whose place begins now or has begun, in their order. Cost: O(due x log n). */
  findDue(now: Instant): PlannedRequest[] {
    this.#noteDue(now);
    return this.#due.size === 0 ? [] : [...this.#due].sort((one, other) => (goesBefore(one, other) ? -1 : 1));
  }

  /**
   * Processors that are neither held by a running or due request nor set aside; less than 0 where a block waits for a
   * request that overruns. Cost: O(newly due x log n + reservationBlocks).
   *
   * Less than the profile's free processors at `now` while a request runs on after its planned end.
   */
  countUnheld(now: Instant): ProcessorCount {
    this.#noteDue(now);
    return this.#profile.capacity - this.#held - this.#reservationBlocks.countAt(now);
  }

  /**
   * Whether a waiting request without a place can start now without disturbing any running request, place or block.
   * Cost: as `countUnheld`, and with reservationBlocks O(segments of its walltime).
   */
  canStart({ width, walltime }: PlannedRequest, now: Instant): boolean {
    // Without reservationBlocks, the free processors by requested times only grow if only running requests have places.
    return (
      this.countUnheld(now) >= width && (this.#reservationBlocks.size === 0 || this.#profile.fits(width, walltime, now))
    );
  }

  /** Whether a request that has no place would fit at an instant, for its whole walltime. Cost: as `endOfFree`. */
  fits({ width, walltime }: RequestTerms, startsAt: Instant): boolean {
    return this.#profile.fits(width, walltime, startsAt);
  }

  /** Runs something while a waiting request without a place seems to have one. Cost: O(segments of the place). */
  whileHeld({ width, walltime }: PlannedRequest, place: Instant, run: () => void): void {
    if (place < Infinity) this.#profile.reserve(width, place, place + walltime);
    run();
    if (place < Infinity) this.#profile.release(width, place, place + walltime);
  }

  /** The earliest start of a waiting request; Infinity without one. Cost: O(due). */
  get nextStart(): Instant {
    let next = this.#places.earliest;
    for (const { place } of this.#due) next = Math.min(next, place);
    return next;
  }

  /** The earliest start after `now` of a waiting request; Infinity without one. Cost: O(1) amortised. */
  nextStartAfter(now: Instant): Instant {
    this.#noteDue(now);
    return this.#places.earliest;
  }

  /** @throws {InvariantError} when there is no such waiting request. */
  getWaiting(id: number): PlannedRequest {
    return this.#getWaiting(id);
  }

  /** The earliest place from `now` on for a waiting request, everybody else's place standing. Cost: O(segments). */
  findEarliestPlace({ width, walltime, startsAt }: PlannedRequest, now: Instant): Instant {
    // Whatever it could get before its own place may run on into it.
    if (startsAt === undefined || startsAt >= now) return this.#profile.earliestFit(width, walltime, now, startsAt);
    this.#profile.release(width, startsAt, startsAt + walltime);
    const place = this.#profile.earliestFit(width, walltime, now);
    this.#profile.reserve(width, startsAt, startsAt + walltime);
    return place;
  }

  /**
   * The earliest place from `now` on for a request that arrived last with this rank, as if of those behind it only the
   * ones whose place has begun had theirs.
   * Infinity without one. Cost: O(behind x (log segments + segments of a place) + segments).
   */
  findPlaceAhead({ rank, width, walltime }: RankedRequest, now: Instant): Instant {
    const behind: PlanEntry[] = [];
    for (let entry = this.#waiting.last; entry !== undefined && entry.rank > rank; entry = entry.previous) {
      if (entry.place <= now || entry.place === Infinity) continue;
      this.#vacate(entry);
      behind.push(entry);
    }
    const place = this.#profile.earliestFit(width, walltime, now);
    for (const entry of behind) this.#profile.reserve(entry.width, entry.place, entry.place + entry.walltime);
    return place;
  }

  /**
   * The first in the order, of those that are not due and no wider than `widthMax`, that ends by `freeUntil(width)`
   * when it
   * starts `now`, or whose own place begins by then.
   *
   * Cost: O(w log n) and `freeUntil` w times, w being the number of different widths that wait and are at most
   * `widthMax`.
   */
  findStartable(
    now: Instant,
    widthMax: ProcessorCount,
    freeUntil: (width: ProcessorCount) => Instant,
  ): PlannedRequest | undefined {
    this.#noteDue(now);
    this.#startable ??= this.#indexWaiting();
    return this.#startable.findFirst(now, widthMax, freeUntil);
  }

  /**
   * The first in the order, of those that are not due, that can start now for its whole walltime, if it gives up its
   * own place for that. Cost: as `findStartable`.
   *
   * @param isReal only on processors that no overrunning request holds.
   */
  findBackfill(now: Instant, isReal: boolean): PlannedRequest | undefined {
    const free = isReal ? this.countUnheld(now) : this.#profile.freeAt(now);
    return this.findStartable(now, free, (width) => this.#profile.endOfFree(width, now));
  }

  #indexWaiting(): RequestIndex {
    // The index by arrival takes O(n) for a request that is not the last in the order.
    const index = this.#order === undefined ? new StartableIndex() : new RankedIndex();
    for (const entry of this.#waiting.values()) if (!this.#due.has(entry)) index.put(entry);
    return index;
  }

  /** From now on the order is not only that of arrival; what was indexed by arrival is indexed again. */
  #makeOrder(): OrderTree {
    const order = new OrderTree();
    for (const entry of this.#waiting.values()) {
      order.add(entry);
      entry.slot = -1;
    }
    this.#order = order;
    this.#startable = undefined;
    return order;
  }

  #noteDue(now: Instant): void {
    this.#dueUntil = now;
    for (let entry = this.#places.take(now); entry !== undefined; entry = this.#places.take(now))
      this.#noteOneDue(entry);
  }

  #noteOneDue(entry: PlanEntry): void {
    this.#due.add(entry);
    this.#held += entry.width;
    this.#startable?.remove(entry);
  }

  #getWaiting(id: number): PlanEntry {
    const entry = this.#waiting.get(id);
    // Unlike a call of invariant, this makes no text where all is well.
    if (entry === undefined) throw new InvariantError(`request ${id} does not wait`);
    return entry;
  }

  #takeOut(entry: PlanEntry): void {
    if (this.#firstUnplaced === entry) {
      do this.#firstUnplaced = this.#firstUnplaced.next;
      while (this.#firstUnplaced !== undefined && this.#firstUnplaced.place < Infinity);
    }
    this.#waiting.remove(entry);
    this.#order?.remove(entry);
    this.#places.remove(entry);
    this.#dropDue(entry);
    this.#startable?.remove(entry);
  }

  #noteUnplaced(entry: PlanEntry): void {
    entry.place = Infinity;
    this.#dropDue(entry);
    this.#places.remove(entry);
    this.#startable?.put(entry);
    this.#noteFirstUnplaced(entry);
  }

  #noteFirstUnplaced(entry: PlanEntry): void {
    if (this.#firstUnplaced === undefined || goesBefore(entry, this.#firstUnplaced)) this.#firstUnplaced = entry;
  }

  #dropDue(entry: PlanEntry): void {
    if (this.#due.delete(entry)) this.#held -= entry.width;
  }

  #vacate({ width, walltime, place }: PlanEntry): void {
    if (place < Infinity) this.#profile.release(width, place, place + walltime);
  }
}

function getCopy(entry: PlanEntry): PlanEntry {
  const copy = new PlanEntry(entry.order, entry.rank, entry);
  copy.place = entry.place;
  return copy;
}
