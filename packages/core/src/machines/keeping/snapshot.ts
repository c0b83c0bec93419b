import { createKeepingState, type KeepingState, type KeptReservation } from './state.ts';

/** All of a keeper's state that its journal promises, as plain values. */
export interface KeepingSnapshot {
  readonly isTold: boolean;
  /** In the order in which they were told of. */
  readonly kept: readonly KeptReservation[];
}

/** Describes a state. Cost: O(reservations). */
export function takeSnapshot({ isTold, kept }: KeepingState): KeepingSnapshot {
  return { isTold, kept: [...kept.values()].map((one) => ({ ...one })) };
}

/** Makes the state that a snapshot describes. */
export function restoreSnapshot({ isTold, kept }: KeepingSnapshot): KeepingState {
  const state = createKeepingState();
  state.isTold = isTold;
  for (const one of kept) state.kept.set(one.window.reservationId, { ...one });
  return state;
}
