import { sayReason } from '@mutirao/api/reasons';
import { decodeProvisioning, encodeReservation, readText } from '@mutirao/api/codecs';
import type { ReservationServiceService } from '@mutirao/api/reservation';
import { getReservation, judgeClaim, managesReservation } from '@mutirao/core/machines/reservations';
import type { ReservationRecord } from '@mutirao/core/messages';
import type { UserId } from '@mutirao/core/shared';
import { unary, type Handlers } from '@mutirao/runtime/rpc';
import { claimFor, type ReservationsHost } from './reservations-host.ts';

type Routes = Pick<
  Handlers<typeof ReservationServiceService>,
  'verifyReservation' | 'claimReservation' | 'reportProvisioning' | 'getClaimKeys'
>;

/**
 * The claim of a reservation as it is now, for its user and for the manager of its resource: they hold an earlier one
 * already.
 */
function presentClaim(
  host: ReservationsHost,
  userId: UserId,
  reservation: ReservationRecord | undefined,
): Promise<string> | string {
  if (
    reservation === undefined ||
    'code' in getReservation(host.state, { userId, reservationId: reservation.place.id })
  )
    return '';
  return claimFor(host, reservation.place.userId, reservation);
}

/** Calls of resource managers: about claims, and about what they pre-acquired. */
export function claimRoutes(host: ReservationsHost): Routes {
  return {
    verifyReservation: unary({
      decode: ({ claim, resourceId, userId }) => ({
        claim: host.signer.verify(claim),
        resourceId: readText('resource_id', resourceId),
        shownBy: readText('user_id', userId),
      }),
      handle: async (shown, { userId }) => {
        const judgement = judgeClaim(host.state, shown, host.clock.now());
        return {
          ...judgement,
          presentClaim:
            judgement.refusal?.code === 'MUT_CLAIM_SUPERSEDED'
              ? await presentClaim(host, userId, judgement.reservation)
              : '',
        };
      },
      encode: ({ reservation, refusal, presentClaim: present }) => ({
        valid: refusal === undefined,
        code: refusal?.code ?? '',
        message: refusal === undefined ? '' : sayReason(refusal.fault),
        reservation: reservation === undefined ? undefined : encodeReservation(reservation, ''),
        presentClaim: present,
      }),
    }),
    claimReservation: unary({
      decode: (wire) => ({
        claim: host.signer.verify(wire.claim),
        resourceId: readText('resource_id', wire.resourceId),
        shownBy: readText('user_id', wire.userId),
        key: readText('client_request_id', wire.clientRequestId),
        reservationId: wire.reservationId,
        hasClaim: wire.claim !== '',
      }),
      handle: ({ reservationId, hasClaim, ...shown }, { userId }) =>
        host.ask<ReservationRecord>((replyTo) => {
          const { resourceId, shownBy, key } = shown;
          return reservationId > 0 && (!hasClaim || managesReservation(host.state, userId, reservationId))
            ? { kind: 'UseReported', replyTo, userId, reservationId, resourceId, usedBy: shownBy, key }
            : { kind: 'ClaimShown', replyTo, userId, ...shown };
        }),
      encode: (reservation) => ({ reservation: encodeReservation(reservation, '') }),
    }),
    reportProvisioning: unary({
      decode: ({ reservationId, provisioning }) => ({ reservationId, ahead: decodeProvisioning(provisioning) }),
      handle: async (reported, { userId }) => {
        await host.ask<ReservationRecord>((replyTo) => ({
          kind: 'ProvisioningReported',
          replyTo,
          userId,
          ...reported,
        }));
      },
      encode: () => ({}),
    }),
    getClaimKeys: unary({
      decode: () => undefined,
      handle: () => host.signer,
      encode: ({ issuer, keyId, publicKey, publicKeyPem }) => ({ issuer, keys: [{ keyId, publicKey, publicKeyPem }] }),
    }),
  };
}
