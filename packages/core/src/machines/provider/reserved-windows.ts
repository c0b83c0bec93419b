import type { UserId } from '../../shared/index.ts';
import type { ProviderState } from './state.ts';

/** Reservations inside of which allocations of the provider run, and whose they are. Cost: O(requests). */
export function listUses({ requests }: ProviderState): { readonly reservationId: number; readonly userId: UserId }[] {
  const users = new Map<number, UserId>();
  for (const { reservation, status } of requests.values()) if (reservation !== undefined && status === 'running') users.set(reservation.reservationId, reservation.userId);
  return [...users].map(([reservationId, userId]) => ({ reservationId, userId }));
}
