import { invariant } from '../shared/index.ts';
import type { Instant, UserId } from '../shared/index.ts';
import { LongProfile } from '../profile/long-profile.ts';
import { sortOrder } from '../shared/sort-order.ts';
import { IdlePeriods } from './idle-periods.ts';
import type { LoadedPlaces } from './loaded-places.ts';
import type { PlacedReservation } from './request.ts';
import { getOffered, type PlacementRule, type ReservableResource } from './resource.ts';
import type { Shape } from './shapes.ts';

/** A shape that a user requests, to start in [from, startMax]. */
export interface Want extends Shape {
  readonly userId: UserId;
  readonly from: Instant;
  readonly startMax: Instant;
}

/** What a block takes. */
export interface Absence {
  readonly start: Instant;
  /** Infinity: for good. */
  readonly end: Instant;
  readonly amount: number;
  /** Of counted resources: which. */
  readonly resources: readonly number[];
}

/** A window of at most this many durations is swept faster than its room is measured. */
const narrowWindow = 8;

/**
 * What reservations and blocks occupy of a resource: how much in all, how much by each user where they are bounded, and
 * which of counted ones.
 */
export class Occupancy {
  /**
   * Of the offered amount: what reservations have, and the shortfall of the present capacity while parts of it are
   * away.
   */
  readonly used = new LongProfile();
  /** What blocks have taken, each resource once. */
  readonly #away = new LongProfile();
  /** Of counted resources. */
  readonly idle: IdlePeriods | undefined;
  /** Of users with a reservation; empty unless users are bounded. */
  readonly #byUser = new Map<UserId, LongProfile>();
  #offered: number;
  readonly #capacity: number;
  #userMax: number;
  readonly #from: Instant;

  /** Nothing occupied from `from` on. */
  constructor(resource: ReservableResource, from: Instant) {
    this.idle = resource.kind === 'counted' ? new IdlePeriods(resource.capacity, from) : undefined;
    this.#offered = getOffered(resource);
    this.#capacity = resource.capacity;
    this.#userMax = resource.userMax ?? Infinity;
    this.#from = from;
  }

  /**
   * Goes on with what is offered, and to one user at most, under other rules: users are bounded as before, or not.
   * Cost: O(log n) for each change of what blocks take.
   */
  changeLimits(resource: ReservableResource): void {
    this.#useLacking(-1, -Infinity, Infinity);
    this.#offered = getOffered(resource);
    this.#useLacking(1, -Infinity, Infinity);
    this.#userMax = resource.userMax ?? Infinity;
  }

  /** Takes what a reservation has. Cost: O(log n), for each resource if they are counted. */
  add({ userId, start, end, amount, resources }: PlacedReservation): void {
    this.used.add(amount, start, end);
    if (this.#userMax < Infinity) this.#profileOf(userId).add(amount, start, end);
    for (const resource of resources) this.idle?.take(resource, Math.max(start, this.#from), end);
  }

  /** Gives back what a reservation had. Cost: as `add`. */
  remove({ userId, start, end, amount, resources }: PlacedReservation): void {
    this.used.add(-amount, start, end);
    const user = this.#byUser.get(userId);
    user?.add(-amount, start, end);
    if (user?.size === 0) this.#byUser.delete(userId);
    for (const resource of resources) this.idle?.free(resource, Math.max(start, this.#from), end);
  }

  /**
   * Takes what a block has; no reservation has it. Cost: O(log n), and as much for each stretch of its window in which
   * other blocks change.
   */
  block({ start, end, amount, resources }: Absence): void {
    this.#changeAway(amount, start, end);
    for (const resource of resources) this.idle?.take(resource, Math.max(start, this.#from), end);
  }

  /** Gives back what a block had. Cost: as `block`. */
  unblock({ start, end, amount, resources }: Absence): void {
    this.#changeAway(-amount, start, end);
    for (const resource of resources) this.idle?.free(resource, Math.max(start, this.#from), end);
  }

  /**
   * Whether, somewhere in a window, more is reserved than available. Cost: O(log n) for each stretch in which blocks
   * change.
   */
  isBeyondAll(from: Instant, until: Instant): boolean {
    // Where a cap was lowered more may be reserved than is offered, but not more than there is.
    return this.#away
      .slots(from, until)
      .some(
        ({ start, end, used }) =>
          this.used.endOfExcess(
            Math.max(this.#offered, this.#capacity - used),
            Math.max(start, from),
            Math.min(end, until),
          ) > -Infinity,
      );
  }

  /**
   * The earliest start; Infinity when there is none.
   *
   * @source kunrath2008, 4.1 (counted) and 4.2.3, SUVS (shared). Departs from the source: slots are skipped if
   *   possible, and a user's limit applies in addition; without one the place is the same.
   */
  earliestFit(want: Want): Instant {
    const { idle } = this;
    let start = this.#findRoom(want, want.from);
    if (idle === undefined) return start;
    const { amount, duration, startMax } = want;
    while (start < Infinity) {
      // If there is not room for as many units, the same ones are not idle throughout either, so that their periods
      // need no check.
      const roomEnd = startMax - start > narrowWindow * duration ? this.startOfExcess(want, start) : Infinity;
      const found = idle.earliestFit(amount, duration, start, Math.min(startMax, roomEnd - duration));
      if (found === Infinity && roomEnd > startMax) return found;
      // Idle units do not count as room where a user's limit forbids them; a narrow window was not checked for that.
      const isRoom = found < Infinity && (roomEnd < Infinity || !this.#isBounded);
      start = isRoom ? found : this.#findRoom(want, Math.min(found, roomEnd));
      if (start === found) return found;
    }
    return Infinity;
  }

  /** Whether a want's amount fits in its window from an instant on. */
  fits(want: Want, start: Instant): boolean {
    return this.earliestFit({ ...want, from: start, startMax: start }) === start;
  }

  /**
   * The end of the last stretch of a window in which the wanted amount does not fit, by what all or its user have;
   * -Infinity without one.
   */
  endOfExcess({ userId, amount }: Want, start: Instant, end: Instant): Instant {
    const all = this.used.endOfExcess(this.#offered - amount, start, end);
    return Math.max(all, this.#byUser.get(userId)?.endOfExcess(this.#userMax - amount, start, end) ?? -Infinity);
  }

  /**
   * When the first stretch begins, `from` at the earliest, in which the wanted amount does not fit, by what all or its
   * user have; Infinity without one.
   */
  startOfExcess({ userId, amount }: Want, from: Instant): Instant {
    const all = this.used.startOfExcess(this.#offered - amount, from);
    return Math.min(all, this.#byUser.get(userId)?.startOfExcess(this.#userMax - amount, from) ?? Infinity);
  }

  /** Resources for a reservation; empty where they are not counted. */
  choose(count: number, start: Instant, end: Instant, rule: PlacementRule): number[] {
    if (this.idle === undefined) return [];
    const chosen = this.idle.choose(count, start, end, rule);
    invariant(chosen.length === count, `${chosen.length} of ${count} resources are idle in [${start}, ${end})`);
    return chosen;
  }

  /** Forgets what was before, and the idleness that came before reservations which have ended. */
  forget(at: Instant, ended: readonly PlacedReservation[]): void {
    this.used.forget(at);
    this.#away.forget(at);
    for (const [userId, profile] of this.#byUser) {
      profile.forget(at);
      if (profile.size === 0) this.#byUser.delete(userId);
    }
    for (const { start, resources } of ended)
      for (const resource of resources) this.idle?.forgetEndingAt(resource, start);
  }

  /** @throws {InvariantError} when an index is not right. Cost: O(n log n). */
  checkInvariants(): void {
    this.used.checkInvariants();
    this.#away.checkInvariants();
    this.idle?.checkInvariants();
    for (const profile of this.#byUser.values()) profile.checkInvariants();
  }

  /** Replaces all reservations by many new ones at once. Cost: O(n), and O(log n) for each if users are limited. */
  load(places: LoadedPlaces): void {
    const byEnd = sortOrder(places.ends);
    this.used.loadWindows(places, byEnd);
    if (this.#userMax < Infinity) {
      for (let index = 0; index < places.ids.length; index += 1) {
        const { userId, amount, start, end } = places.at(index);
        this.#profileOf(userId).add(amount, start, end);
      }
    }
    this.idle?.loadBusy(places, byEnd, this.#from);
  }

  /** Less may be reserved than there is, by all or by a user. */
  get #isBounded(): boolean {
    return this.#offered < this.#capacity || this.#userMax < Infinity;
  }

  /**
   * The earliest start from an instant on at which the wanted amount fits, by what all and what its user have; Infinity
   * without one.
   */
  #findRoom({ userId, amount, duration, startMax }: Want, from: Instant): Instant {
    const user = this.#byUser.get(userId);
    for (let start = from; ; ) {
      const room = this.used.earliestFit(this.#offered - amount, duration, start, startMax);
      if (user === undefined || room === Infinity) return room;
      start = user.earliestFit(this.#userMax - amount, duration, room, startMax);
      if (start === room || start === Infinity) return start;
    }
  }

  /** An owner's share is offered as long as there is as much: only what is away beyond the rest is lacking. */
  #changeAway(amount: number, start: Instant, end: Instant): void {
    this.#useLacking(-1, start, end);
    this.#away.add(amount, start, end);
    this.#useLacking(1, start, end);
  }

  #useLacking(sign: number, from: Instant, until: Instant): void {
    for (const { start, end, used } of this.#away.slots(from, until)) {
      const lacking = Math.min(used, this.#capacity) - (this.#capacity - this.#offered);
      if (lacking > 0) this.used.add(sign * lacking, Math.max(start, from), Math.min(end, until));
    }
  }

  #profileOf(userId: UserId): LongProfile {
    let profile = this.#byUser.get(userId);
    if (profile === undefined) this.#byUser.set(userId, (profile = new LongProfile()));
    return profile;
  }
}
