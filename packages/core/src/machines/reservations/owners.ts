import type { ReservationRecord, ResourceRecord } from '../../messages/index.ts';
import type { Refusal } from '../../reasons/index.ts';
import type { UserId } from '../../shared/index.ts';
import { findResource, isRefusal } from './admission.ts';
import { getEntry } from './apply.ts';
import type { ReservationsState, ResourceEntry } from './state.ts';

/** Whether a user decides about a resource: its owner does, and that of the manager. */
export function isOwner({ options }: ReservationsState, { ownerId }: ResourceRecord, userId: UserId): boolean {
  return userId === ownerId || userId === options.ownerId;
}

/** Finds a reservation of a user's own. */
export function findOwn(
  state: ReservationsState,
  { userId, reservationId }: { readonly userId: UserId; readonly reservationId: number },
): ReservationRecord | Refusal {
  const found = findKnown(state, reservationId);
  if (isRefusal(found) || found.place.userId === userId) return found;
  return { code: 'MUT_NOT_OWNER', fault: { code: 'not-your-reservation', reservationId, userId } };
}

/** Finds a reservation of a user's own, or of a resource about which the user decides. */
export function findManaged(
  state: ReservationsState,
  asked: { readonly userId: UserId; readonly reservationId: number },
): ReservationRecord | Refusal {
  const found = findKnown(state, asked.reservationId);
  if (!isRefusal(found) && isOwner(state, getEntry(state, found.resourceId).resource, asked.userId)) return found;
  return findOwn(state, asked);
}

function findKnown(state: ReservationsState, reservationId: number): ReservationRecord | Refusal {
  const found = state.reservations.get(reservationId);
  if (found !== undefined) return found;
  const isForgotten = reservationId < state.nextReservationId;
  return {
    code: 'MUT_NOT_FOUND',
    fault: { code: isForgotten ? 'reservation-forgotten' : 'unknown-reservation', reservationId },
  };
}

/** Finds a resource about which a user decides. */
export function findOwnResource(
  state: ReservationsState,
  { userId, resourceId }: { readonly userId: UserId; readonly resourceId: string },
): ResourceEntry | Refusal {
  const entry = findResource(state, resourceId);
  if (isRefusal(entry) || isOwner(state, entry.resource, userId)) return entry;
  const { ownerId } = entry.resource;
  return { code: 'MUT_NOT_OWNER', fault: { code: 'not-your-resource', resourceId, ownerId, userId } };
}

/** Whether a user decides about the resource of a reservation; not of one that there is not. */
export function managesReservation(state: ReservationsState, userId: UserId, reservationId: number): boolean {
  const found = state.reservations.get(reservationId);
  return found !== undefined && isOwner(state, getEntry(state, found.resourceId).resource, userId);
}
