import { invariant, unreachable } from '../../shared/index.ts';
import type { ReservationSyncChange } from './changes.ts';
import type { ReservationSyncState, KeptReservation } from './state.ts';

/** Makes one change to the state. Decides nothing; replay of the journal calls it alone. */
export function apply(state: ReservationSyncState, change: ReservationSyncChange): void {
  switch (change.kind) {
    case 'WindowsChanged':
      state.isAnnounced = true;
      for (const id of change.removedIds) state.kept.delete(id);
      for (const window of change.windows)
        state.kept.set(window.reservationId, { window, status: 'planned', since: change.at, reason: '' });
      return;
    case 'StatusChanged': {
      const kept = getKept(state, change.reservationId);
      kept.status = change.status;
      kept.reason = change.reason;
      kept.since = change.at;
      return;
    }
    case 'WindowsEnded':
      for (const id of change.ids) state.kept.delete(id);
      return;
    default:
      return unreachable(change);
  }
}

/** @throws {InvariantError} when it is not known. */
export function getKept(state: ReservationSyncState, reservationId: number): KeptReservation {
  const kept = state.kept.get(reservationId);
  invariant(kept !== undefined, `reservation ${reservationId} is not known`);
  return kept;
}
