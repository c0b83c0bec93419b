import type { ReservationSyncChange } from '@mutirao/core/machines/reservation-sync';
import type { ChangeCodec } from '@mutirao/runtime/journal';

/** How a keeper's changes lie in its journal. */
export const reservationSyncChangeCodec: ChangeCodec<ReservationSyncChange> = {
  version: 1,
  encode: (change) => JSON.stringify(change),
  decode: (_version, body) => JSON.parse(body) as ReservationSyncChange,
  deriveJob: () => undefined,
  // After a crash the reservation manager reports everything again, and the site is read again.
  isDurable: () => false,
};
