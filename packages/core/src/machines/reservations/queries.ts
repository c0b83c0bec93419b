import type { ReservationRecord, ReservationStatus, ResourceState } from '../../messages/index.ts';
import type { Refusal } from '../../reasons/index.ts';
import type { Instant, UserId } from '../../shared/index.ts';
import { findResource, isRefusal } from './admission.ts';
import { getEntry } from './apply.ts';
import { findManaged, isOwner } from './owners.ts';
import { getState } from './resources.ts';
import type { ReservationBrief } from './stored-reservations.ts';
import type { ReservationsState } from './state.ts';

/** Which reservations are listed. */
export interface ReservationFilter {
  readonly userId: UserId;
  /** Also those of others, of resources about which the user decides. */
  readonly isOfAll: boolean;
  /** Only smaller ids. */
  readonly before: number;
  readonly limit: number;
  /** Empty: any. */
  readonly resourceId: string;
  /** Empty: any. */
  readonly statuses: readonly ReservationStatus[];
  /** Only those that overlap the window. */
  readonly from: Instant;
  readonly until: Instant;
}

/** Most reservations that one call looks at, so that no list holds the process up. */
const lookedAtMax = 100_000;

/**
 * The newest reservations of a filter, and the id before which the next ones are; 0 if there are none. Cost:
 * O(visited), at most 100,000.
 */
export function listReservations(
  state: ReservationsState,
  filter: ReservationFilter,
): { readonly reservations: ReservationRecord[]; readonly nextBefore: number } {
  const reservations: ReservationRecord[] = [];
  let id = Math.min(filter.before, state.nextReservationId) - 1;
  for (
    let lookedAt = 0;
    id > 0 && lookedAt < lookedAtMax && reservations.length < filter.limit;
    id -= 1, lookedAt += 1
  ) {
    const brief = state.reservations.findBrief(id);
    const reservation = brief !== undefined && isWanted(state, filter, brief) ? state.reservations.get(id) : undefined;
    if (reservation !== undefined) reservations.push(reservation);
  }
  return { reservations, nextBefore: id > 0 ? id + 1 : 0 };
}

function isWanted(
  state: ReservationsState,
  { userId, isOfAll, resourceId, statuses, from, until }: ReservationFilter,
  { place, status, resourceId: ofResource }: ReservationBrief,
): boolean {
  if (place.end <= from || place.start >= until) return false;
  if (resourceId !== '' && resourceId !== ofResource) return false;
  if (statuses.length > 0 && !statuses.includes(status)) return false;
  return place.userId === userId || (isOfAll && isOwner(state, getEntry(state, ofResource).resource, userId));
}

/** A reservation of the user's own, or of a resource about which the user decides. */
export function getReservation(
  state: ReservationsState,
  asked: { readonly userId: UserId; readonly reservationId: number },
): ReservationRecord | Refusal {
  return findManaged(state, asked);
}

/** All resources, in the order of their registration. */
export function listResources(state: ReservationsState): ResourceState[] {
  return [...state.resources.values()].map(getState);
}

/** A window of a resource's calendar. */
export interface CalendarView {
  readonly state: ResourceState;
  /** Without gaps, sorted by start; `used` is of what is offered, and counts what outages leave less than that. */
  readonly slots: readonly { readonly start: Instant; readonly end: Instant; readonly used: number }[];
  /** Whether later slots were left out. */
  readonly isCut: boolean;
}

/** How much of a resource is taken over a window. @param slotsMax the most stretches to report. */
export function describeCalendar(
  state: ReservationsState,
  resourceId: string,
  { from, until, slotsMax }: { readonly from: Instant; readonly until: Instant; readonly slotsMax: number },
): CalendarView | Refusal {
  const entry = findResource(state, resourceId);
  if (isRefusal(entry)) return entry;
  const slots: { start: Instant; end: Instant; used: number }[] = [];
  for (const { start, end, used } of entry.calendar.slots(from, until)) {
    const last = slots.at(-1);
    if (last?.used === used && last.end === start) last.end = end;
    else if (slots.length === slotsMax) return { state: getState(entry), slots, isCut: true };
    else slots.push({ start, end, used });
  }
  return { state: getState(entry), slots, isCut: false };
}
