import type { SiteReservation } from '../../messages/index.ts';
import type { DriverCommand } from '../../shared/index.ts';

/** What the reservation sync's driver must do, in order; what is refused it tells by SiteRefused. */
export type ReservationSyncCommand =
  | DriverCommand
  /** Has the site's manager reserve; a start that has passed means now. */
  | { readonly kind: 'MakeSiteReservation'; readonly reservation: SiteReservation }
  /** Gives a reservation of the site's manager another time. */
  | { readonly kind: 'MoveSiteReservation'; readonly reservation: SiteReservation }
  /** Has the site's manager forget a reservation; what runs inside it ends. */
  | { readonly kind: 'RemoveSiteReservation'; readonly reservationId: number }
  /** Reads what the site has, and tells it by SiteListed. */
  | { readonly kind: 'ReadSite' };
