import { decodeGroup, encodeDecision, encodeReservation, readText } from '@mutirao/api/codecs';
import type { ReservationServiceService } from '@mutirao/api/reservation';
import { getDecision } from '@mutirao/core/machines/reservations';
import type { ReservationRecord } from '@mutirao/core/messages';
import { unary, type Handlers } from '@mutirao/runtime/rpc';
import type { ReservationsHost } from './reservations-host.ts';

type Routes = Pick<Handlers<typeof ReservationServiceService>, 'prepareReservation' | 'getGroupOutcome'>;

/** How several reservations come to stand or fall together. */
export function groupRoutes(host: ReservationsHost): Routes {
  return {
    prepareReservation: unary({
      decode: ({ reservationId, together }) => ({ reservationId, together: decodeGroup(together) }),
      handle: (request, { userId }) =>
        host.ask<ReservationRecord>((replyTo) => ({ kind: 'PrepareRequested', replyTo, userId, ...request })),
      encode: (reservation) => ({ reservation: encodeReservation(reservation, '') }),
    }),
    getGroupOutcome: unary({
      decode: ({ groupId, reservationId }) => ({ groupId: readText('group_id', groupId), reservationId }),
      handle: (asked) => getDecision(host.state, asked),
      encode: (decision) => ({ decision: encodeDecision(decision) }),
    }),
  };
}
