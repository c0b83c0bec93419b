import type { Outage, ReservationRecord, ResourceId, ResourceRecord } from '../../messages/index.ts';
import { Calendar, type Block, type PlacedReservation, type ReservableResource } from '../../reservations/index.ts';
import { invariant, unreachable, type Instant } from '../../shared/index.ts';
import type { ReservationsChange, ReservationReported } from './changes.ts';
import { listTimers } from './list-timers.ts';
import { getFiled } from './resource-status.ts';
import type { ReservationBrief } from './stored-reservations.ts';
import { calendarStart, getDue, isLiving, isPrepared, type ReservationsState, type ResourceEntry } from './state.ts';

/**
 * Makes one change to the state. Decides nothing; replay of the journal calls it alone.
 *
 * Where a calendar decides by placing, it has done its part of the change already, and that part is passed over.
 */
export function apply(state: ReservationsState, change: ReservationsChange): void {
  switch (change.kind) {
    case 'ResourcePut':
      return putResource(state, change.resource, change.at);
    case 'OutagePut':
      return putOutage(state, change);
    case 'OutageRemoved': {
      const entry = getEntry(state, change.resourceId);
      entry.outages.delete(change.outageId);
      entry.calendar.unblock(change.outageId);
      return;
    }
    case 'ReservationsPut':
      clearPlaces(state, change.reported);
      return putReservations(state, change.reported);
    case 'ReservationsForgotten':
      for (const id of change.ids) forgetReservation(state, id);
      return;
    default:
      return unreachable(change);
  }
}

/** @throws {InvariantError} when there is no such resource. */
export function getEntry(state: ReservationsState, resourceId: ResourceId): ResourceEntry {
  const entry = state.resources.get(resourceId);
  invariant(entry !== undefined, `resource ${resourceId} is not known`);
  return entry;
}

/** What a calendar needs to know of a resource. */
export function listFacts({ kind, total, rules }: ResourceRecord): ReservableResource {
  return {
    kind,
    capacity: total,
    capPpm: rules.capPpm,
    durationMax: rules.durationMax === 0 ? undefined : rules.durationMax,
    userMax: rules.amountPerUserMax === 0 ? undefined : rules.amountPerUserMax,
    algorithm: rules.algorithm,
    placement: rules.placement,
    movesMax: rules.movesMax,
    inTheWay: 'needed',
  };
}

/** An outage as a calendar takes it. */
export function findBlock({ id, startsAt, endsAt, units, amount }: Outage): Block {
  return { id, start: startsAt, end: endsAt === 0 ? undefined : endsAt, resources: units, amount };
}

function putResource(state: ReservationsState, resource: ResourceRecord, at: Instant): void {
  const known = state.resources.get(resource.id);
  if (known === undefined) {
    state.resources.set(resource.id, {
      resource,
      registeredAt: at,
      calendar: new Calendar(listFacts(resource), calendarStart),
      outages: new Map(),
      nextOutageId: 1,
      livingByUser: new Map(),
      workByUser: new Map(),
      livingCount: 0,
    });
    return;
  }
  const { unclaimedMax } = known.resource.rules;
  known.resource = resource;
  known.calendar = known.calendar.withRules(listFacts(resource));
  // An early timer is set again when it fires; only one that is due sooner than before would be missed.
  if (!isShorter(resource.rules.unclaimedMax, unclaimedMax)) return;
  state.timers = listTimers(state);
  state.timerInstants.clear();
}

/** Whether a limit is less than another; 0 is none. */
function isShorter(limit: number, other: number): boolean {
  return limit !== 0 && (other === 0 || limit < other);
}

function putOutage(
  state: ReservationsState,
  { resourceId, outage, reported }: Extract<ReservationsChange, { kind: 'OutagePut' }>,
): void {
  const entry = getEntry(state, resourceId);
  clearPlaces(state, reported);
  if (!entry.calendar.blocks().some(({ id }) => id === outage.id)) entry.calendar.putBlock(findBlock(outage));
  fileOutage(state, entry, outage);
  putReservations(state, reported);
}

/** Notes an outage outside the calendar. */
export function fileOutage(state: ReservationsState, entry: ResourceEntry, outage: Outage): void {
  entry.outages.set(outage.id, outage);
  entry.nextOutageId = Math.max(entry.nextOutageId, outage.id + 1);
  if (outage.endsAt !== 0)
    state.timers.push({ at: outage.endsAt, kind: 'outage', resourceId: entry.resource.id, outageId: outage.id });
}

/** First all that leave their places, so that others fit there. */
function clearPlaces(state: ReservationsState, reported: readonly ReservationReported[]): void {
  for (const { reservation } of reported) {
    const { calendar } = getEntry(state, reservation.resourceId);
    const placed = calendar.get(reservation.place.id);
    if (placed === undefined) continue;
    const { place } = reservation;
    // What a calendar has may be more than its owner offers by now, so that it would not be placed there again.
    if (isLiving(reservation) && isCut(placed, place)) calendar.shorten(place.id, place.end);
    else if (!isLiving(reservation) || !isSamePlace(placed, place)) calendar.cancel(placed.id);
    else if ((placed.isHeld === true) !== (reservation.status === 'held')) calendar.refile(getFiled(reservation).place);
  }
}

function putReservations(state: ReservationsState, reported: readonly ReservationReported[]): void {
  for (const { reservation } of reported) {
    const entry = getEntry(state, reservation.resourceId);
    if (isLiving(reservation) && entry.calendar.get(reservation.place.id) === undefined)
      entry.calendar.put(getFiled(reservation).place);
    fileReservation(state, entry, reservation);
  }
}

/** Notes a reservation outside the calendar, in place of its former version, and when its timer is due. */
function fileReservation(state: ReservationsState, entry: ResourceEntry, reservation: ReservationRecord): void {
  const { id } = reservation.place;
  const former = state.reservations.findBrief(id);
  noteReservation(state, entry, reservation);
  if (!isLiving(reservation)) {
    state.timerInstants.delete(id);
    return;
  }
  const at = getDue(reservation, entry.resource, state.startedAt);
  const isNew = former === undefined || !isLiving(former);
  const looked = isNew ? Infinity : (state.timerInstants.get(id) ?? getDue(former, entry.resource, state.startedAt));
  // An early timer is set again when it fires.
  if (looked <= at) return;
  state.timers.push({ at, kind: 'reservation', id });
  if (!isNew) state.timerInstants.set(id, at);
}

/** Notes a reservation outside the calendar, in place of its former version. */
export function noteReservation(state: ReservationsState, entry: ResourceEntry, reservation: ReservationRecord): void {
  const {
    place: { id, userId },
  } = reservation;
  const former = state.reservations.findBrief(id);
  const change = Number(isLiving(reservation)) - Number(former !== undefined && isLiving(former));
  state.reservations.set(id, getFiled(reservation));
  if (isPrepared(reservation)) state.preparedIds.add(id);
  else state.preparedIds.delete(id);
  state.nextReservationId = Math.max(state.nextReservationId, id + 1);
  const work = getLivingWork(reservation) - (former === undefined ? 0 : getLivingWork(former));
  if (change !== 0 || work !== 0) countLiving(state, entry, { userId, change, work });
  if (!isLiving(reservation)) state.endedIds.add(id);
}

/** What a reservation takes of its resource: amount times milliseconds. */
export function measureWork({ place: { amount, start, end } }: Pick<ReservationBrief, 'place'>): number {
  return amount * (end - start);
}

function getLivingWork(reservation: ReservationBrief): number {
  return isLiving(reservation) ? measureWork(reservation) : 0;
}

/** Counts a reservation that begins or ceases to live, or takes more or less. */
export function countLiving(
  state: ReservationsState,
  entry: ResourceEntry,
  { userId, change, work }: { readonly userId: string; readonly change: number; readonly work: number },
): void {
  const count = (entry.livingByUser.get(userId) ?? 0) + change;
  if (count === 0) {
    entry.livingByUser.delete(userId);
    entry.workByUser.delete(userId);
  } else {
    entry.livingByUser.set(userId, count);
    entry.workByUser.set(userId, Math.max(0, (entry.workByUser.get(userId) ?? 0) + work));
  }
  entry.livingCount += change;
  state.livingCount += change;
}

function forgetReservation(state: ReservationsState, id: number): void {
  const reservation = state.reservations.findBrief(id);
  invariant(reservation !== undefined && !isLiving(reservation), `reservation ${id} is not over`);
  state.reservations.delete(id);
  state.endedIds.delete(id);
}

/** Whether a place is the same as before but for its end, which is earlier. */
function isCut(before: PlacedReservation, after: PlacedReservation): boolean {
  return after.end < before.end && before.isHeld === after.isHeld && isSamePlace({ ...before, end: after.end }, after);
}

/** Whether two reservations have the same place and limits. */
export function isSamePlace(one: PlacedReservation, other: PlacedReservation): boolean {
  if (one === other) return true;
  return (
    one.start === other.start &&
    one.end === other.end &&
    one.amount === other.amount &&
    one.earliestStart === other.earliestStart &&
    one.latestEnd === other.latestEnd &&
    one.resources.length === other.resources.length &&
    one.resources.every((unit, index) => unit === other.resources[index])
  );
}
