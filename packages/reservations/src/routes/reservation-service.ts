import type { ReservationServiceService } from '@mutirao/api/reservation';
import type { Handlers } from '@mutirao/runtime/rpc';
import { claimRoutes } from './claims.ts';
import { getQuotaRoute } from './get-quota.ts';
import { reservationsRoutes } from './reservations.ts';
import type { ReservationsHost } from './reservations-host.ts';
import { resourceRoutes } from './resources.ts';
import { groupRoutes } from './together.ts';
import { watchRoute } from './watch-reservations.ts';

/** ReservationService over one manager. */
export function reservationRoutes(host: ReservationsHost): Handlers<typeof ReservationServiceService> {
  return {
    ...reservationsRoutes(host),
    ...claimRoutes(host),
    ...resourceRoutes(host),
    ...groupRoutes(host),
    getQuota: getQuotaRoute(host),
    watchReservations: watchRoute(host),
  };
}
