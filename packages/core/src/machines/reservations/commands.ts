import type { PlacementRefusal, ReservationRecord, ResourceState } from '../../messages/index.ts';
import type { DriverCommand } from '../../shared/index.ts';

/** What the manager's driver must do, in order: it runs nothing itself. */
export type ReservationsCommand = DriverCommand;

/** The answer to a request or a renegotiation. */
export type PlacementReply =
  | { readonly kind: 'placed'; readonly reservation: ReservationRecord; readonly movedCount: number }
  | { readonly kind: 'refused'; readonly refusal: PlacementRefusal };

/** The answer to what concerns a resource. */
export interface ResourceReply {
  readonly state: ResourceState;
  /** Reservations that were in the way. */
  readonly movedCount: number;
  /** In use, and over at the beginning of a maintenance. */
  readonly shortenedCount: number;
  readonly cancelledCount: number;
}
