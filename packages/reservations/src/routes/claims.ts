import { encodeReservation, readText } from '@mutirao/api/codecs';
import type { ReservationServiceService } from '@mutirao/api/reservation';
import { judgeClaim } from '@mutirao/core/machines/reservations';
import type { ReservationRecord } from '@mutirao/core/messages';
import { unary, type Handlers } from '@mutirao/runtime/rpc';
import type { ReservationsHost } from './reservations-host.ts';

type Routes = Pick<Handlers<typeof ReservationServiceService>, 'verifyReservation' | 'claimReservation' | 'getClaimKeys'>;

/** What resource managers do with claims. */
export function claimRoutes(host: ReservationsHost): Routes {
  return {
    verifyReservation: unary({
      decode: ({ claim, resourceId, userId }) => ({ claim: host.signer.verify(claim), resourceId: readText('resource_id', resourceId), shownBy: readText('user_id', userId) }),
      handle: (shown) => judgeClaim(host.state, shown, host.clock.now()),
      encode: ({ reservation, refusal }) => ({
        valid: refusal === undefined, code: refusal?.code ?? '', message: refusal?.message ?? '', reservation: reservation === undefined ? undefined : encodeReservation(reservation, ''),
      }),
    }),
    claimReservation: unary({
      decode: (wire) => ({
        claim: host.signer.verify(wire.claim), resourceId: readText('resource_id', wire.resourceId), shownBy: readText('user_id', wire.userId),
        key: readText('client_request_id', wire.clientRequestId),
      }),
      handle: (shown, { userId }) => host.ask<ReservationRecord>((replyTo) => ({ kind: 'ClaimShown', replyTo, userId, ...shown })),
      encode: (reservation) => ({ reservation: encodeReservation(reservation, '') }),
    }),
    getClaimKeys: unary({
      decode: () => undefined,
      handle: () => host.signer,
      encode: ({ issuer, keyId, publicKey, publicKeyPem }) => ({ issuer, keys: [{ keyId, publicKey, publicKeyPem }] }),
    }),
  };
}
