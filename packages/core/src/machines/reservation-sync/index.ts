import type { Machine } from '../../shared/index.ts';
import { apply } from './apply.ts';
import type { ReservationSyncChange } from './changes.ts';
import { checkInvariants } from './check-invariants.ts';
import type { ReservationSyncCommand } from './commands.ts';
import type { ReservationSyncInput } from './inputs.ts';
import type { ReservationSyncState } from './state.ts';
import { step } from './step.ts';

export type { ReservationSyncChange } from './changes.ts';
export type { ReservationSyncCommand } from './commands.ts';
export type { ReservationSyncInput } from './inputs.ts';
export { restoreSnapshot, takeSnapshot, type ReservationSyncSnapshot } from './snapshot.ts';
export {
  createReservationSyncState,
  type ReservationSyncState,
  type KeptReservation,
  type KeptStatus,
} from './state.ts';

/** Keeps reservations at a site that has a manager of its own. */
export const reservationSync: Machine<
  ReservationSyncState,
  ReservationSyncInput,
  ReservationSyncChange,
  ReservationSyncCommand
> = {
  step,
  apply,
  checkInvariants,
};
