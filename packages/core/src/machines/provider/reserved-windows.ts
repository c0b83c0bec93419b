import type { QueueListing } from '../../messages/index.ts';
import type { UserId } from '../../shared/index.ts';
import { isPending, type OwnRequest, type ProviderState } from './state.ts';
import { commit, type Turn } from './turn.ts';

/** Reservations inside of which allocations of the provider run, and whose they are. Cost: O(requests). */
export function listUses({ requests }: ProviderState): { readonly reservationId: number; readonly userId: UserId }[] {
  const users = new Map<number, UserId>();
  for (const { reservation, status } of requests.values())
    if (reservation !== undefined && status === 'running') users.set(reservation.reservationId, reservation.userId);
  return [...users].map(([reservationId, userId]) => ({ reservationId, userId }));
}

/**
 * Notes where a request's reservation is at another time, or of another size, than was known: its manager has moved it,
 * or its user. Both times are of the reservation
 * manager's clock, as in the claim, and not the provider's.
 */
export function noteWindow(turn: Turn, request: OwnRequest, { reservations = [] }: QueueListing): void {
  const { requestId, reservation } = request;
  if (reservation === undefined || !isPending(request)) return;
  const listed = reservations.find(
    ({ reservationId, userId }) => reservationId === reservation.reservationId && userId === reservation.userId,
  );
  if (listed === undefined) return;
  const { startsAt, endsAt, count: amount } = listed;
  if (startsAt === reservation.startsAt && endsAt === reservation.endsAt && amount === reservation.amount) return;
  commit(turn, { kind: 'RequestMoved', requestId, startsAt, endsAt, amount, at: turn.now });
}
