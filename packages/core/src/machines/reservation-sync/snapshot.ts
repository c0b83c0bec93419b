import { createReservationSyncState, type ReservationSyncState, type KeptReservation } from './state.ts';

/** All of a reservation sync's state that its journal promises, as plain values. */
export interface ReservationSyncSnapshot {
  readonly isAnnounced: boolean;
  /** In the order in which they were reported. */
  readonly kept: readonly KeptReservation[];
}

/** Describes a state. Cost: O(reservations). */
export function takeSnapshot({ isAnnounced, kept }: ReservationSyncState): ReservationSyncSnapshot {
  return { isAnnounced, kept: [...kept.values()].map((one) => ({ ...one })) };
}

/** Makes the state that a snapshot describes. */
export function restoreSnapshot({ isAnnounced, kept }: ReservationSyncSnapshot): ReservationSyncState {
  const state = createReservationSyncState();
  state.isAnnounced = isAnnounced;
  for (const one of kept) state.kept.set(one.window.reservationId, { ...one });
  return state;
}
