import type { Outage, ReservationRecord, ResourceId, ResourceRecord } from '../../messages/index.ts';
import { Calendar, type PlacedReservation } from '../../reservations/index.ts';
import type { Instant } from '../../shared/index.ts';
import { sortedBy } from '../../shared/sort-order.ts';
import { blockOf, factsOf, filedOf, fileOutage, noteReservation, getEntry } from './apply.ts';
import { listDues } from './list-dues.ts';
import { createReservationsState, isLiving, type ReservationsOptions, type ReservationsState } from './state.ts';

/** A resource as a snapshot holds it. */
export interface ResourceSnapshot {
  readonly resource: ResourceRecord;
  readonly registeredAt: Instant;
}

/** An outage as a snapshot holds it. */
export interface OutageSnapshot {
  readonly resourceId: ResourceId;
  readonly outage: Outage;
}

/** All of a manager's state that its journal promises, as plain values. */
export interface ReservationsSnapshot {
  /** In the order of their registration. */
  readonly resources: Iterable<ResourceSnapshot>;
  readonly outages: Iterable<OutageSnapshot>;
  /** In any order; a resource's own reservations only after it is known. */
  readonly reservations: Iterable<ReservationRecord>;
  /** Left out: one more than the greatest. Numbers are not used again, also where the greatest is forgotten. */
  readonly nextReservationId?: number;
}

/** Describes a state. Cost: O(1), for it is made as it is read. */
export function takeSnapshot(state: ReservationsState): ReservationsSnapshot & { readonly nextReservationId: number } {
  return {
    resources: [...state.resources.values()].map(({ resource, registeredAt }) => ({ resource, registeredAt })),
    outages: [...state.resources.values()].flatMap(({ resource, outages }) => [...outages.values()].map((outage) => ({ resourceId: resource.id, outage }))),
    reservations: state.reservations.values(), nextReservationId: state.nextReservationId,
  };
}

/** Makes the state that a snapshot describes. Cost: O(n log n), a second or two for a million reservations. */
export function restoreSnapshot(options: ReservationsOptions, snapshot: ReservationsSnapshot): ReservationsState {
  const state = createReservationsState(options);
  const places = new Map<ResourceId, PlacedReservation[]>();
  for (const { resource, registeredAt } of snapshot.resources) {
    places.set(resource.id, []);
    state.resources.set(resource.id, {
      resource, registeredAt, calendar: new Calendar(factsOf(resource), registeredAt), outages: new Map(), nextOutageId: 1, livingByUser: new Map(), livingCount: 0,
    });
  }
  for (const { resourceId, outage } of snapshot.outages) fileOutage(state, getEntry(state, resourceId), outage);
  const ended: ReservationRecord[] = [];
  for (const reservation of snapshot.reservations) {
    if (isLiving(reservation)) {
      noteReservation(state, getEntry(state, reservation.resourceId), reservation);
      places.get(reservation.resourceId)?.push(filedOf(reservation).place);
    } else ended.push(reservation);
  }
  // What was over first is forgotten first.
  ended.sort((one, other) => one.endedAt - other.endedAt || one.place.id - other.place.id);
  for (const reservation of ended) noteReservation(state, getEntry(state, reservation.resourceId), reservation);
  loadCalendars(state, places);
  state.dues = listDues(state);
  state.nextReservationId = Math.max(state.nextReservationId, snapshot.nextReservationId ?? 0);
  return state;
}

function loadCalendars(state: ReservationsState, places: ReadonlyMap<ResourceId, PlacedReservation[]>): void {
  for (const entry of state.resources.values()) {
    const byId = sortedBy(places.get(entry.resource.id) ?? [], ({ id }) => id);
    const sorted = sortedBy(byId, ({ start }) => start);
    entry.calendar = Calendar.load(factsOf(entry.resource), entry.registeredAt, [...entry.outages.values()].map(blockOf), sorted);
  }
}
