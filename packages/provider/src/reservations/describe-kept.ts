import type { ReservationSyncState } from '@mutirao/core/machines/reservation-sync';
import type { Reason } from '@mutirao/core/reasons';

/** Reservations that are listed one by one. */
const namedMax = 5;

/**
 * How a site keeps reservations, for its owner. @param trouble why the site cannot be read; empty when it can.
 */
export function describeKept({ kept }: ReservationSyncState, trouble: string): Reason[] {
  const all = [...kept.values()];
  const lacking = all.filter(({ status }) => status !== 'guaranteed');
  if (all.length === 0 && trouble === '') return [];
  const reasons: Reason[] = [
    {
      code: 'reservations-guaranteed',
      guaranteedReservations: all.length - lacking.length,
      reservations: all.length,
    },
  ];
  if (trouble !== '') reasons.push({ code: 'reservations-unreadable', trouble });
  for (const { window, reason: cause } of lacking.slice(0, namedMax))
    reasons.push({ code: 'reservation-not-guaranteed', reservationId: window.reservationId, cause });
  if (lacking.length > namedMax)
    reasons.push({ code: 'further-not-guaranteed', reservations: lacking.length - namedMax });
  return reasons;
}
