import type { Machine } from '../../shared/index.ts';
import { apply } from './apply.ts';
import type { ReservationsChange } from './changes.ts';
import { checkInvariants } from './check-invariants.ts';
import type { ReservationsCommand } from './commands.ts';
import type { ReservationsInput } from './inputs.ts';
import type { ReservationsState } from './state.ts';
import { step } from './step.ts';

export type { ReservationFact, ReservationsChange, ReservationReported } from './changes.ts';
export type { PlacementReply, ReservationsCommand, ResourceReply } from './commands.ts';
export { listReservationQuotas } from './user-quotas.ts';
export { listEvents, type ReservationEvent } from './events.ts';
export type { NewResource, Part, ReservationsInput } from './inputs.ts';
export { judgeClaim, type ClaimJudgement, type ShownClaim } from './judge-claim.ts';
export { managesReservation } from './owners.ts';
export {
  describeCalendar,
  getReservation,
  listReservations,
  listResources,
  type CalendarView,
  type ReservationFilter,
} from './queries.ts';
export { getDecision } from './prepare.ts';
export {
  restoreSnapshot,
  takeSnapshot,
  type OutageSnapshot,
  type ReservationsSnapshot,
  type ResourceSnapshot,
} from './snapshot.ts';
export { factCount, listStoredFacts, StoredReservations } from './stored-reservations.ts';
export { createReservationsState, isLiving, type ReservationsOptions, type ReservationsState } from './state.ts';

/**
 * The reservation manager: places reservations on the calendars of resources and follows them to their ends; it runs
 * nothing.
 */
export const reservationsMachine: Machine<
  ReservationsState,
  ReservationsInput,
  ReservationsChange,
  ReservationsCommand
> = { step, apply, checkInvariants };
