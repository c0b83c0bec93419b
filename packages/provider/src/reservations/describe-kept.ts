import type { ReservationSyncState } from '@mutirao/core/machines/reservation-sync';
import { plural } from '@mutirao/core/shared';

/** Reservations that are told of one by one. */
const namedMax = 5;

/**
 * How a site keeps reservations, in sentences for its owner. @param trouble why the site cannot be read; empty when it
 * can.
 */
export function describeKept({ kept }: ReservationSyncState, trouble: string): string[] {
  const all = [...kept.values()];
  const lacking = all.filter(({ status }) => status !== 'guaranteed');
  if (all.length === 0 && trouble === '') return [];
  return [
    `${all.length - lacking.length} of ${plural(all.length, 'reservation')} guaranteed by the site's own manager.`,
    ...(trouble === '' ? [] : [`Its reservations cannot be read: ${trouble}.`]),
    ...lacking
      .slice(0, namedMax)
      .map(
        ({ window: { reservationId }, reason }) =>
          `Reservation ${reservationId} is not guaranteed: ${reason === '' ? 'it is being asked for' : reason}.`,
      ),
    ...(lacking.length > namedMax
      ? [`${plural(lacking.length - namedMax, 'further one')} not guaranteed either.`]
      : []),
  ];
}
