import { MutiraoError } from '@mutirao/api/errors';
import { ReservationStatus } from '@mutirao/api/reservation';

import type { ReservationClient } from '@mutirao/runtime/clients';
import { getEnumName } from '../wire/names.ts';
import { readReservationId } from './show-reservation.ts';

/**
 * The claim that a text is, or that of the reservation whose number it is, as its manager shows its user.
 *
 * @throws {MutiraoError} why the reservation has none: MUT_CLAIM_UNCONFIRMED, MUT_CLAIM_LATE, MUT_RESERVATION_OVER,
 * MUT_CLAIM_NOT_YOURS.
 */
export async function fetchClaim(text: string, openManager: () => Promise<ReservationClient>): Promise<string> {
  if (text.includes('.')) return text;
  const reservationId = readReservationId(text);
  const found = (await (await openManager()).getReservation({ reservationId })).reservation;
  if (found === undefined)
    throw new MutiraoError(
      'MUT_NOT_FOUND',
      `you have no reservation ${reservationId}; "mutirao reservation list" shows all`,
    );
  const { status, reason, claim, userId } = found;
  if (status === ReservationStatus.HELD)
    throw new MutiraoError(
      'MUT_CLAIM_UNCONFIRMED',
      `reservation ${reservationId} is only held; expected "mutirao reservation confirm ${reservationId}" first`,
    );
  if (status !== ReservationStatus.CONFIRMED && status !== ReservationStatus.CLAIMED) {
    const reported =
      `reservation ${reservationId} is ` +
      `${getEnumName(ReservationStatus, status)}${reason === undefined ? '' : ` (${reason.text})`}; expected one that is confirmed or ` +
      'claimed';
    throw new MutiraoError(status === ReservationStatus.EXPIRED ? 'MUT_CLAIM_LATE' : 'MUT_RESERVATION_OVER', reported);
  }
  if (claim === '')
    throw new MutiraoError(
      'MUT_CLAIM_NOT_YOURS',
      `reservation ${reservationId} is ${userId}'s, and its claim is shown to nobody else; expected the claim as ` +
        `${userId} shows it`,
    );
  return claim;
}
