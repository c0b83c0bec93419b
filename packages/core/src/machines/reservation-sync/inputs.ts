import type { ReservedWindow, SiteReservation } from '../../messages/index.ts';
import type { ClockStepped, ProcessorCount } from '../../shared/index.ts';

/** The facts that a reservation sync receives. */
export type ReservationSyncInput =
  /** All reservations of the resource that are confirmed and not over; a level. */
  | { readonly kind: 'ReservationsReported'; readonly windows: readonly ReservedWindow[] }
  /**
   * All reservations that the site's manager has made for us, read when all earlier commands had been performed; a
   * level. Replies undefined behind
   * the commands that it leads to.
   *
   * @param granularity processors that the site reserves together at least.
   */
  | {
      readonly kind: 'SiteListed';
      readonly replyTo: number;
      readonly reservations: readonly SiteReservation[];
      readonly granularity: ProcessorCount;
    }
  /** The site's manager did not do what it was asked for this reservation. */
  | { readonly kind: 'SiteRefused'; readonly reservationId: number; readonly reason: string }
  | ClockStepped
  | { readonly kind: 'TimerFired' };
