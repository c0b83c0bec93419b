import type { SiteReservation } from '../../messages/index.ts';
import type { DriverCommand } from '../../shared/index.ts';

/** What the driver of the reservation sync must do, in order; it reports refusals by SiteRefused. */
export type ReservationSyncCommand =
  | DriverCommand
  /** Has the site's manager reserve; a start that has passed means now. */
  | { readonly kind: 'MakeSiteReservation'; readonly reservation: SiteReservation }
  /** Gives a reservation of the site's manager another time. */
  | { readonly kind: 'MoveSiteReservation'; readonly reservation: SiteReservation }
  /** Has the site's manager forget a reservation; what runs inside it ends. */
  | { readonly kind: 'RemoveSiteReservation'; readonly reservationId: number }
  /** Reads what the site has, and reports it by SiteListed. */
  | { readonly kind: 'ReadSite' };
