import type { Outage, ReservationRecord, ResourceId, ResourceRecord } from '../../messages/index.ts';
import { Calendar, type LoadedPlaces, type PlacedReservation } from '../../reservations/index.ts';
import type { Instant } from '../../shared/index.ts';
import { sortedBy } from '../../shared/sort-order.ts';
import { findBlock, countLiving, listFacts, fileOutage, noteReservation, getEntry, measureWork } from './apply.ts';
import { listTimers } from './list-timers.ts';
import { getFiled } from './resource-status.ts';
import type { ReservationBrief, StoredReservations } from './stored-reservations.ts';
import {
  calendarStart,
  createReservationsState,
  isLiving,
  type ReservationsOptions,
  type ReservationsState,
} from './state.ts';

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
  /** More of them, in brief; left out for none. */
  readonly stored?: StoredReservations | undefined;
  /** Left out: one more than the greatest. Numbers are not used again, also where the greatest is forgotten. */
  readonly nextReservationId?: number;
}

/** Describes a state. Cost: O(1), for it is made as it is read. */
export function takeSnapshot(state: ReservationsState): ReservationsSnapshot & { readonly nextReservationId: number } {
  return {
    resources: [...state.resources.values()].map(({ resource, registeredAt }) => ({ resource, registeredAt })),
    outages: [...state.resources.values()].flatMap(({ resource, outages }) =>
      [...outages.values()].map((outage) => ({ resourceId: resource.id, outage })),
    ),
    reservations: state.reservations.values(),
    nextReservationId: state.nextReservationId,
  };
}

/**
 * Makes the state that a snapshot describes. Cost: O(n log n); O(n) where all are stored, users are not bounded and
 * little is blocked.
 */
export function restoreSnapshot(options: ReservationsOptions, snapshot: ReservationsSnapshot): ReservationsState {
  const { stored } = snapshot;
  const state = createReservationsState(options, stored);
  const places = new Map<ResourceId, PlacedReservation[]>();
  for (const { resource, registeredAt } of snapshot.resources) {
    places.set(resource.id, []);
    state.resources.set(resource.id, {
      resource,
      registeredAt,
      calendar: new Calendar(listFacts(resource), calendarStart),
      outages: new Map(),
      nextOutageId: 1,
      livingByUser: new Map(),
      workByUser: new Map(),
      livingCount: 0,
    });
  }
  for (const { resourceId, outage } of snapshot.outages) fileOutage(state, getEntry(state, resourceId), outage);
  const ended: ReservationBrief[] = [];
  for (const reservation of snapshot.reservations) {
    if (isLiving(reservation)) {
      noteReservation(state, getEntry(state, reservation.resourceId), reservation);
      places.get(reservation.resourceId)?.push(getFiled(reservation).place);
    } else ended.push(reservation);
  }
  if (stored !== undefined) fileStored(state, stored, ended);
  fileEnded(state, ended);
  loadCalendars(state, places, stored?.places() ?? new Map());
  state.timers = listTimers(state);
  state.nextReservationId = Math.max(state.nextReservationId, snapshot.nextReservationId ?? 0);
  return state;
}

/** What was over first is forgotten first. */
function fileEnded(state: ReservationsState, ended: ReservationBrief[]): void {
  for (const brief of sortedBy(
    sortedBy(ended, ({ place: { id } }) => id),
    ({ endedAt }) => endedAt,
  )) {
    if (isWhole(brief)) noteReservation(state, getEntry(state, brief.resourceId), brief);
    else state.endedIds.add(brief.place.id);
  }
}

/** Whether it is not stored. */
function isWhole(brief: ReservationBrief): brief is ReservationRecord {
  return 'revision' in brief;
}

/**
 * Notes stored reservations outside the calendars, as `noteReservation` does for others; those that are over are only
 * listed.
 */
function fileStored(state: ReservationsState, stored: StoredReservations, ended: ReservationBrief[]): void {
  for (let row = 0; row < stored.count; row += 1) {
    const brief = stored.briefAt(row);
    const {
      place: { userId },
      resourceId,
    } = brief;
    if (isLiving(brief))
      countLiving(state, getEntry(state, resourceId), { userId, change: 1, work: measureWork(brief) });
    else ended.push(brief);
    if (stored.isPreparedAt(row)) state.preparedIds.add(stored.idAt(row));
  }
  if (stored.count > 0) state.nextReservationId = Math.max(state.nextReservationId, stored.idAt(stored.count - 1) + 1);
}

function loadCalendars(
  state: ReservationsState,
  places: ReadonlyMap<ResourceId, PlacedReservation[]>,
  stored: ReadonlyMap<ResourceId, LoadedPlaces>,
): void {
  for (const entry of state.resources.values()) {
    const blocks = [...entry.outages.values()].map(findBlock);
    const list = places.get(entry.resource.id) ?? [];
    const kept = stored.get(entry.resource.id);
    entry.calendar = Calendar.load(
      listFacts(entry.resource),
      calendarStart,
      blocks,
      kept === undefined ? inOrder(list) : withList(kept, list),
    );
  }
}

function withList(kept: LoadedPlaces, list: readonly PlacedReservation[]): LoadedPlaces | PlacedReservation[] {
  return list.length === 0 ? kept : inOrder([...list, ...Array.from(kept.ids, (_, index) => kept.at(index))]);
}

function inOrder(places: PlacedReservation[]): PlacedReservation[] {
  return sortedBy(
    sortedBy(places, ({ id }) => id),
    ({ start }) => start,
  );
}
