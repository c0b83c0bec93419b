import { invariant } from '../shared/index.ts';
import type { Instant } from '../shared/index.ts';
import { Blocks, placeBlock, type Block, type BlockOutcome } from './blocks.ts';
import { listLoadedPlaces, type LoadedPlaces } from './loaded-places.ts';
import { displace } from './displace.ts';
import type { Want } from './occupancy.ts';
import { placeByRule } from './place-by-rule.ts';
import {
  instantMax,
  findLimits,
  refuse,
  type Answer,
  type Limits,
  type PlacedReservation,
  type Refusal,
  type ReservationId,
  type ReservationRequest,
} from './request.ts';
import { PlacedReservations } from './placed-reservations.ts';
import { checkResource, getOffered, type ReservableResource } from './resource.ts';
import { chooseShape, listShapes, type Shape } from './shapes.ts';

/** What would fit instead of the request; a part is undefined if nothing would. */
export interface Alternatives {
  /** As asked, at the earliest beyond the latest end. */
  readonly earliest: Window | undefined;
  /** The most for as long, within the limits. */
  readonly widest: Window | undefined;
  /** The longest for as much, within the limits. */
  readonly longest: Window | undefined;
}

/** An amount in a window of time. */
export interface Window {
  readonly start: Instant;
  readonly end: Instant;
  readonly amount: number;
}

/** A stretch of a calendar over which the available amount does not change. */
export interface CalendarSlot {
  readonly start: Instant;
  readonly end: Instant;
  /** Of what is offered: reserved, or lacking because of blocks. */
  readonly used: number;
}

/**
 * The reservations of one resource over time.
 *
 * Deterministic: the same calls give the same answers. A refused request changes nothing. n is the number of
 * reservations below.
 */
export class Calendar {
  readonly #book: PlacedReservations;
  readonly #blocks = new Blocks();
  readonly #from: Instant;

  /** Empty from `from` on. @throws {InvariantError} when the resource has a fault. */
  constructor(resource: ReservableResource, from: Instant) {
    checkResource(resource);
    this.#from = from;
    this.#book = new PlacedReservations(resource, from);
  }

  /**
   * A calendar with reservations and blocks as a journal or snapshot has them. @param reservations if a list, sorted by
   * start, then id. Cost: O(n log n).
   */
  static load(
    resource: ReservableResource,
    from: Instant,
    blocks: readonly Block[],
    reservations: readonly PlacedReservation[] | LoadedPlaces,
  ): Calendar {
    const calendar = new Calendar(resource, from);
    calendar.#book.load('ids' in reservations ? reservations : listLoadedPlaces(reservations));
    for (const block of blocks) calendar.#blocks.put(calendar.#book, block);
    return calendar;
  }

  /** The resource with the rules that hold now. */
  get resource(): ReservableResource {
    return this.#book.resource;
  }

  /**
   * The calendar under other rules; placed reservations stay. This one with its rules changed, or another in its place.
   *
   * Cost: O(log n) for each change of what blocks take; O(n log n) if reservations begin or cease to be movable, or
   * users to be limited, or if it is another resource.
   */
  withRules(resource: ReservableResource): Calendar {
    checkResource(resource);
    if (this.#book.changeRules(resource)) return this;
    return Calendar.load(resource, this.#from, this.#blocks.list(), this.reservations());
  }

  /** How many reservations there are. */
  get count(): number {
    return this.#book.count;
  }

  /** A reservation; undefined when it is not there. */
  get(id: ReservationId): PlacedReservation | undefined {
    return this.#book.get(id);
  }

  /** Those that overlap a window, in order of start, then id. Cost: O(log n) each. */
  reservations(from: Instant = -Infinity, until: Instant = Infinity): readonly PlacedReservation[] {
    return this.#book.overlapping(from, until);
  }

  /** All blocks, in order of id. */
  blocks(): readonly Block[] {
    return this.#blocks.list();
  }

  /**
   * The stretches of a window, in order, with what is reserved or unavailable in each, cut at the window's ends. Cost:
   * O(log n) and O(1) each.
   */
  slots(from: Instant, until: Instant): readonly CalendarSlot[] {
    return this.#book.all.used
      .slots(from, until)
      .map(({ start, end, used }) => ({ start: Math.max(start, from), end: Math.min(end, until), used }));
  }

  /**
   * Decides on a request, and places it if there is a place. Cost: O(log n) for each slot that the search stops at; see
   * `LongProfile`.
   */
  request(request: ReservationRequest, now: Instant): Answer {
    const answer = this.find(request, now);
    if (answer.kind === 'placed') {
      this.#book.add(answer.reservation);
      return answer;
    }
    const mayMove = answer.reason === 'no-room' || answer.reason === 'not-now' || answer.reason === 'user-bound';
    return mayMove && request.isHold !== true && request.latestEnd !== undefined && this.#book.firm !== undefined
      ? this.#displace(request, answer, now)
      : answer;
  }

  /**
   * What `request` would decide, and which reservations it would move; nothing has changed afterwards. Cost: as
   * `request`.
   */
  tryRequest(request: ReservationRequest, now: Instant): Answer {
    const answer = this.request(request, now);
    if (answer.kind === 'refused') return answer;
    this.#book.remove(request.id);
    for (const { id } of answer.moved) this.#book.remove(id);
    for (const { before } of answer.moved) this.#book.add(before);
    return answer;
  }

  /** What would be decided, without placing it, if no reservation moves. Cost: as `request`. */
  find(request: ReservationRequest, now: Instant): Answer {
    const limits = findLimits(request, now);
    if ('reason' in limits) return limits;
    const shapes = listShapes(this.resource, request.extent, limits);
    if ('reason' in shapes) return shapes;
    const { placement } = this.resource;
    const place = chooseShape(request.extent, shapes, limits.from, (shape) =>
      placeByRule(this.#book.all, getWant(request, shape, limits), placement),
    );
    if (place === undefined) return this.#refusePlace(request, shapes, limits);
    const { start, amount } = place;
    const end = start + place.duration;
    const resources = this.#book.all.choose(amount, start, end, placement);
    return {
      kind: 'placed',
      reservation: { ...getUnplaced(request, amount, limits), start, end, resources },
      moved: [],
    };
  }

  /**
   * The alternatives to a request; to an elastic or malleable one, alternatives to its most wanted shape. Cost: tens of
   * searches.
   *
   * @param without a reservation whose place counts as free, as in a renegotiation.
   * @source kunrath2008, 2.2 on Askalon's attentive negotiation.
   */
  alternatives(request: ReservationRequest, now: Instant, without?: ReservationId): Alternatives {
    const old = without === undefined ? undefined : this.#book.remove(without);
    const found = this.#findAlternatives(request, now);
    if (old !== undefined) this.#book.add(old);
    return found;
  }

  /**
   * Gives a reservation that has not begun another place, under the same id. Its own place counts as free; it keeps it
   * after a refusal.
   *
   * Cost: as `request`.
   */
  renegotiate(id: ReservationId, request: ReservationRequest, now: Instant): Answer {
    const old = this.#book.get(id);
    if (old === undefined) return refuse('unknown-reservation', id, 0);
    if (old.start <= now) return refuse('already-begun', id, 0);
    this.#book.remove(id);
    const answer = this.request({ ...request, id }, now);
    if (answer.kind === 'refused') this.#book.add(old);
    return answer;
  }

  /** Takes a reservation off; undefined when it is not there. Cost: O(log n), for each resource if they are counted. */
  cancel(id: ReservationId): PlacedReservation | undefined {
    return this.#book.remove(id);
  }

  /**
   * Ends a reservation early and answers with what is left of it; undefined when it is not there or does not overlap
   * that end. Cost: as `cancel`.
   */
  shorten(id: ReservationId, end: Instant): PlacedReservation | undefined {
    const old = this.#book.get(id);
    if (old === undefined || end >= old.end || end <= old.start) return undefined;
    this.#book.remove(id);
    const rest = { ...old, end };
    this.#book.add(rest);
    return rest;
  }

  /**
   * Places a reservation as given, in place of one with the same id: decided before, and now replayed. @throws
   * {InvariantError} when its place is not free.
   */
  put(reservation: PlacedReservation): void {
    const { id, userId, start, end, amount, resources } = reservation;
    this.#book.remove(id);
    const want: Want = { userId, amount, duration: end - start, from: start, startMax: start };
    invariant(
      this.#book.all.endOfExcess(want, start, end) === -Infinity,
      `no room for reservation ${id} in [${start}, ${end})`,
    );
    invariant(
      resources.length === (this.resource.kind === 'counted' ? amount : 0),
      `reservation ${id} has ${resources.length} resources`,
    );
    this.#book.add(reservation);
  }

  /**
   * Replaces a reservation by one with the same id and the same place, for example when a hold was confirmed. Cost: as
   * `cancel`.
   */
  refile(reservation: PlacedReservation): void {
    invariant(this.#book.remove(reservation.id) !== undefined, `reservation ${reservation.id} is not there`);
    this.#book.add(reservation);
  }

  /**
   * Blocks part of the resource for a while, for maintenance or because it failed; see `placeBlock`. Cost: O(log n) for
   * each reservation in its window.
   */
  block(block: Block, now: Instant): BlockOutcome {
    this.#checkBlock(block);
    return placeBlock(this.#book, this.#blocks, block, now);
  }

  /** Blocks as given; what was in the way has been removed: decided before, and now replayed. */
  putBlock(block: Block): void {
    this.#checkBlock(block);
    this.#blocks.put(this.#book, block);
  }

  /** Ends a block; false when it is not there. */
  unblock(id: number): boolean {
    return this.#blocks.remove(this.#book, id);
  }

  /**
   * Forgets reservations and blocks that have ended by `at`, and the slots before it; answers with the reservations'
   * ids.
   */
  forget(at: Instant): readonly ReservationId[] {
    this.#blocks.forget(at);
    return this.#book.forget(at).map(({ id }) => id);
  }

  /**
   * Compares the calendar with its reservations and blocks, and its indexes with their entries. Cost: O(n log n).
   * @throws {InvariantError}
   */
  checkInvariants(): void {
    const reservations = this.#book.overlapping(-Infinity, Infinity);
    invariant(reservations.length === this.#book.count, 'a reservation is not in the index');
    const twin = Calendar.load(this.resource, this.#from, this.#blocks.list(), reservations);
    const since = Math.max(this.#from, this.#book.forgottenUpTo);
    const reported = (calendar: Calendar): string => JSON.stringify(calendar.slots(since, Infinity));
    invariant(reported(this) === reported(twin), 'slots are not what the reservations say');
    const idle = (calendar: Calendar): string =>
      JSON.stringify(
        calendar.#book.all.idle
          ?.periods()
          .filter(({ end }) => end > since)
          .map(({ resource, start, end }) => [resource, Math.max(start, since), end]),
      );
    invariant(idle(this) === idle(twin), 'resources are not idle when the reservations say');
    this.#book.checkInvariants();
  }

  #findAlternatives(request: ReservationRequest, now: Instant): Alternatives {
    const nothing = { earliest: undefined, widest: undefined, longest: undefined };
    const { extent } = request;
    const limits = findLimits(
      { ...request, timing: 'advance', earliestStart: request.timing === 'advance' ? request.earliestStart : now },
      now,
    );
    if ('reason' in limits) return nothing;
    const endless = listShapes(this.resource, extent, { ...limits, latestEnd: Infinity });
    const asked = 'reason' in endless ? getShapeAsked(extent) : (endless[0] as Shape);
    if (!(asked.duration >= 1)) return nothing;
    const beyond = { ...limits, latestEnd: Infinity, isImmediate: false };
    const within = { ...limits, isImmediate: request.timing === 'immediate' };
    const place = (shape: Shape, bounds: typeof within): Window | undefined => {
      if ('reason' in listShapes(this.resource, { kind: 'rigid', ...shape }, bounds)) return undefined;
      const start = this.#book.all.earliestFit(getWant(request, shape, bounds));
      return start < Infinity ? { start, end: start + shape.duration, amount: shape.amount } : undefined;
    };
    const most = Math.min(getOffered(this.resource), this.resource.userMax ?? Infinity);
    const longest = Math.min(
      this.resource.durationMax ?? Infinity,
      limits.latestEnd - limits.from,
      within.isImmediate ? asked.duration : Infinity,
    );
    return {
      earliest: place(asked, beyond),
      widest: findGreatest(most, (amount) => place({ amount, duration: asked.duration }, within)),
      longest:
        longest < Infinity
          ? findGreatest(longest, (duration) => place({ amount: asked.amount, duration }, within))
          : undefined,
    };
  }

  /** There is no place; if another user would have one, the user's limit is the reason. */
  #refusePlace(request: ReservationRequest, shapes: readonly Shape[], limits: Limits): Refusal {
    const { amount } = shapes[0] as Shape;
    const { userMax } = this.resource;
    // The empty user has no reservations, and so no limit.
    const isBound =
      userMax !== undefined &&
      shapes.some((shape) => this.#book.all.earliestFit({ ...getWant(request, shape, limits), userId: '' }) < Infinity);
    if (isBound) return refuse('user-bound', amount, userMax);
    return refuse(limits.isImmediate ? 'not-now' : 'no-room', amount, 0);
  }

  #displace(request: ReservationRequest, refusal: Refusal, now: Instant): Answer {
    const limits = findLimits(request, now) as Limits;
    const shapes = listShapes(this.resource, request.extent, limits);
    const shape = (shapes as readonly Shape[])[0] as Shape;
    const made = displace(this.#book, getUnplaced(request, shape.amount, limits), getWant(request, shape, limits), now);
    if (made.kind === 'placed') return made;
    return made.movesWanted === 0 ? refusal : refuse('too-many-moves', made.movesWanted, this.resource.movesMax);
  }

  #checkBlock({ id, start, resources, amount, end }: Block): void {
    const isCounted = this.resource.kind === 'counted';
    invariant(start < (end ?? Infinity), `block ${id} ends before it begins`);
    invariant(
      isCounted ? resources.every((each) => each >= 0 && each < this.resource.capacity) : amount > 0,
      `block ${id} is of nothing that there is`,
    );
  }
}

function getUnplaced(
  { id, userId, latestEnd, isHold }: ReservationRequest,
  amount: number,
  { from }: Limits,
): Omit<PlacedReservation, 'start' | 'end' | 'resources'> {
  return { id, userId, amount, earliestStart: from, latestEnd, ...(isHold === true ? { isHeld: true } : {}) };
}

function getWant(
  { userId }: ReservationRequest,
  { amount, duration }: Shape,
  { from, latestEnd, isImmediate }: Limits,
): Want {
  return { userId, amount, duration, from, startMax: isImmediate ? from : Math.min(latestEnd, instantMax) - duration };
}

function getShapeAsked(extent: ReservationRequest['extent']): Shape {
  switch (extent.kind) {
    case 'rigid':
      return extent;
    case 'elastic':
      return { amount: extent.referenceAmount, duration: extent.referenceDuration };
    case 'malleable':
      return { amount: extent.amountMax, duration: Math.ceil(extent.work / extent.amountMax) };
  }
}

/**
 * The result for the greatest whole number up to `most` with a result; a number with a result implies one for all that
 * are less.
 */
function findGreatest<Found>(most: number, find: (value: number) => Found | undefined): Found | undefined {
  let low = 0;
  let high = most;
  let best: Found | undefined;
  while (low < high) {
    const middle = low + Math.ceil((high - low) / 2);
    const found = find(middle);
    if (found === undefined) high = middle - 1;
    else {
      low = middle;
      best = found;
    }
  }
  return best;
}
