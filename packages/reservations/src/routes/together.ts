import { decodeTogether, encodeDecision, encodeReservation, readText } from '@mutirao/api/codecs';
import type { ReservationServiceService } from '@mutirao/api/reservation';
import { decisionOf } from '@mutirao/core/machines/reservations';
import type { ReservationRecord } from '@mutirao/core/messages';
import { unary, type Handlers } from '@mutirao/runtime/rpc';
import type { ReservationsHost } from './reservations-host.ts';

type Routes = Pick<Handlers<typeof ReservationServiceService>, 'pledgeReservation' | 'getTogetherDecision'>;

/** How several reservations come to stand or fall together. */
export function togetherRoutes(host: ReservationsHost): Routes {
  return {
    pledgeReservation: unary({
      decode: ({ reservationId, together }) => ({ reservationId, together: decodeTogether(together) }),
      handle: (request, { userId }) =>
        host.ask<ReservationRecord>((replyTo) => ({ kind: 'PledgeRequested', replyTo, userId, ...request })),
      encode: (reservation) => ({ reservation: encodeReservation(reservation, '') }),
    }),
    getTogetherDecision: unary({
      decode: ({ togetherId, reservationId }) => ({ togetherId: readText('together_id', togetherId), reservationId }),
      handle: (asked) => decisionOf(host.state, asked),
      encode: (decision) => ({ decision: encodeDecision(decision) }),
    }),
  };
}
