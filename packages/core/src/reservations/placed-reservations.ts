import { invariant } from '../shared/index.ts';
import type { Instant } from '../shared/index.ts';
import { LoadedRows } from '../shared/ordered-tree.ts';
import { listLoadedPlaces, type LoadedPlaces } from './loaded-places.ts';
import { Occupancy } from './occupancy.ts';
import { PeriodTree } from './period-tree.ts';
import type { PlacedReservation, ReservationId } from './request.ts';
import type { ReservableResource } from './resource.ts';

/**
 * The reservations of one resource, and what they occupy: all of them, and, for SUVS-P, only those that never move.
 *
 * It keeps and finds; it decides nothing. n is the number of reservations.
 */
export class PlacedReservations {
  #resource: ReservableResource;
  /** Those that came since it was loaded. */
  readonly #records = new Map<ReservationId, PlacedReservation>();
  /** Those that it was loaded with. */
  #loaded: LoadedPlaces | undefined;
  /** Loaded ones that have left, or come back otherwise. */
  readonly #left = new Set<ReservationId>();
  /** (start, id) -> end, of all. */
  readonly #periods = new PeriodTree();
  /**
   * (start, id) -> end, of those of low priority that have not begun as far as is known; empty unless others may move
   * them.
   */
  readonly #movable = new PeriodTree();
  #forgottenUpTo: Instant = -Infinity;
  /** What reservations and blocks occupy. */
  readonly all: Occupancy;
  /** What is not movable: reservations and blocks. Undefined unless others may move them. */
  readonly firm: Occupancy | undefined;

  /** Empty from `from` on. */
  constructor(resource: ReservableResource, from: Instant) {
    this.#resource = resource;
    this.all = new Occupancy(resource, from);
    this.firm = resource.algorithm === 'suvs-p' ? new Occupancy(resource, from) : undefined;
  }

  /** With the rules that hold now. */
  get resource(): ReservableResource {
    return this.#resource;
  }

  get count(): number {
    return this.#records.size + (this.#loaded?.ids.length ?? 0) - this.#left.size;
  }

  /** What was before is forgotten. */
  get forgottenUpTo(): Instant {
    return this.#forgottenUpTo;
  }

  get(id: ReservationId): PlacedReservation | undefined {
    return this.#records.get(id) ?? (this.#left.has(id) ? undefined : this.#loaded?.find(id));
  }

  /** Takes a reservation whose place is free. Cost: O(log n), for each resource if they are counted. */
  add(reservation: PlacedReservation): void {
    const { id, start, end } = reservation;
    invariant(this.get(id) === undefined, `reservation ${id} is there twice`);
    this.#records.set(id, reservation);
    this.#periods.set(start, id, end);
    this.all.add(reservation);
    if (this.firm === undefined) return;
    if (isLow(reservation)) this.#movable.set(start, id, end);
    else this.firm.add(reservation);
  }

  /** Takes a reservation off; undefined when it is not there. Cost: as `add`. */
  remove(id: ReservationId): PlacedReservation | undefined {
    const reservation = this.get(id);
    if (reservation === undefined) return undefined;
    this.#drop(id);
    this.#periods.remove(reservation.start, id);
    this.all.remove(reservation);
    if (!this.#movable.remove(reservation.start, id)) this.firm?.remove(reservation);
    return reservation;
  }

  /**
   * Goes on under other rules; false, with nothing changed, where more would have to be known of reservations than is.
   * Cost: O(log n) for each change of what blocks take.
   */
  changeRules(resource: ReservableResource): boolean {
    if (!isKnownAlike(this.#resource, resource)) return false;
    this.#resource = resource;
    this.all.changeLimits(resource);
    this.firm?.changeLimits(resource);
    return true;
  }

  /**
   * Takes many reservations at once, before any other. Cost: O(n), and more for each where they are movable or users
   * bounded.
   */
  load(places: LoadedPlaces): void {
    invariant(this.count === 0, 'there are reservations already');
    this.#loaded = places;
    this.#periods.load(rowsOf(places));
    this.all.load(places);
    if (this.firm === undefined) return;
    const low: PlacedReservation[] = [];
    const firm: PlacedReservation[] = [];
    for (let index = 0; index < places.ids.length; index += 1) {
      const reservation = places.at(index);
      (isLow(reservation) ? low : firm).push(reservation);
    }
    this.#movable.load(rowsOf(listLoadedPlaces(low)));
    this.firm.load(listLoadedPlaces(firm));
  }

  /** Those that overlap a window, in order of start, then id. Cost: O(log n) each. */
  overlapping(from: Instant, until: Instant): PlacedReservation[] {
    return this.#listOf(this.#periods, from, until);
  }

  /**
   * Those of low priority that overlap a window and have not begun, in order of start, then id; none unless others may
   * move them. Cost: O(log n) each.
   */
  movableWithin(from: Instant, until: Instant): PlacedReservation[] {
    return this.#listOf(this.#movable, from, until);
  }

  /** Fixes reservations that have begun: they no longer move. Cost: O(log n) each. */
  settleBegun(now: Instant): void {
    const begun: PlacedReservation[] = [];
    this.#movable.visit(-Infinity, 0, (start, id) => {
      if (start <= now) begun.push(this.#get(id));
      return start <= now;
    });
    for (const reservation of begun) {
      this.#movable.remove(reservation.start, reservation.id);
      this.firm?.add(reservation);
    }
  }

  /**
   * Drops reservations that have ended by `at`, in order of start, then id. Cost: O(log n) each, and O(1) for each that
   * has begun.
   */
  forget(at: Instant): PlacedReservation[] {
    this.settleBegun(at);
    this.#forgottenUpTo = Math.max(this.#forgottenUpTo, at);
    const ended: PlacedReservation[] = [];
    this.#periods.visit(-Infinity, 0, (start, id, end) => {
      if (end <= at) ended.push(this.#get(id));
      return start < at;
    });
    for (const { id, start } of ended) {
      this.#drop(id);
      this.#periods.remove(start, id);
    }
    this.all.forget(at, ended);
    this.firm?.forget(at, ended);
    return ended;
  }

  /** @throws {InvariantError} when an index is not right. Cost: O(n log n). */
  checkInvariants(): void {
    this.#periods.checkInvariants();
    this.#movable.checkInvariants();
    this.all.checkInvariants();
    this.firm?.checkInvariants();
  }

  #listOf(tree: PeriodTree, from: Instant, until: Instant): PlacedReservation[] {
    const found: PlacedReservation[] = [];
    tree.visitOverlapping(from, until, (_, id) => found.push(this.#get(id)) > 0);
    return found;
  }

  #drop(id: ReservationId): void {
    if (!this.#records.delete(id)) this.#left.add(id);
  }

  #get(id: ReservationId): PlacedReservation {
    const reservation = this.get(id);
    invariant(reservation !== undefined, `reservation ${id} is gone`);
    return reservation;
  }
}

/** Of low priority: without a latest end. @source kunrath2008, 4.2.4. Departs from the source: a hold is not moved. */
function isLow({ latestEnd, isHeld }: PlacedReservation): boolean {
  return latestEnd === undefined && isHeld === undefined;
}

/** Whether the same is kept of reservations under both rules. */
function isKnownAlike(one: ReservableResource, other: ReservableResource): boolean {
  const isAlikeBounded = (one.userMax === undefined) === (other.userMax === undefined);
  return (
    one.kind === other.kind && one.capacity === other.capacity && one.algorithm === other.algorithm && isAlikeBounded
  );
}

function rowsOf({ ids, starts, ends }: LoadedPlaces): LoadedRows {
  const rows = new LoadedRows(ids.length);
  for (let index = 0; index < ids.length; index += 1)
    rows.push(starts[index] as number, ids[index] as number, ends[index] as number);
  return rows;
}
