import {
  badRequest,
  decodeStatuses,
  decodeSpec,
  encodePlacementOutcome,
  encodeReservation,
  readInstant,
  readText,
} from '@mutirao/api/codecs';
import { errorOfRefusal } from '@mutirao/api/errors';
import {
  Reservation,
  type ListReservationsRequest,
  type ListReservationsResponse,
  type ReservationServiceService,
} from '@mutirao/api/reservation';
import {
  getReservation,
  listReservations,
  type PlacementReply,
  type ReservationsInput,
} from '@mutirao/core/machines/reservations';
import type { ReservationRecord } from '@mutirao/core/messages';
import type { UserId } from '@mutirao/core/shared';
import { countOfPage, unary, type Handlers } from '@mutirao/runtime/rpc';
import { claimFor, type ReservationsHost } from './reservations-host.ts';

type Service = Handlers<typeof ReservationServiceService>;
type Routes = Pick<
  Service,
  | 'requestReservation'
  | 'getReservation'
  | 'listReservations'
  | 'renegotiateReservation'
  | 'cancelReservation'
  | 'confirmReservation'
  | 'releaseReservation'
>;

const pageUsual = 100;
const pageMax = 1000;

/** A reservation as its asker sees it. */
interface Seen {
  readonly claim: string;
  readonly reservation: ReservationRecord;
}

interface SeenReply {
  /** Empty where nothing was placed. */
  readonly claim: string;
  readonly reply: PlacementReply;
}

/** What users do with reservations. */
export function reservationsRoutes(host: ReservationsHost): Routes {
  const encodeSeen = ({ claim, reservation }: Seen): { reservation: ReturnType<typeof encodeReservation> } => ({
    reservation: encodeReservation(reservation, claim),
  });
  const getOutcome = ({ claim, reply }: SeenReply): ReturnType<typeof encodePlacementOutcome> =>
    encodePlacementOutcome(reply, () => claim);
  const see = async (userId: UserId, reservation: ReservationRecord): Promise<Seen> => ({
    claim: await claimFor(host, userId, reservation),
    reservation,
  });
  const askSeen = async (userId: UserId, make: (replyTo: number) => ReservationsInput): Promise<Seen> =>
    see(userId, await host.ask<ReservationRecord>(make));
  const askPlaced = async (userId: UserId, make: (replyTo: number) => ReservationsInput): Promise<SeenReply> => {
    const reply = await host.ask<PlacementReply>(make);
    return { claim: reply.kind === 'placed' ? await claimFor(host, userId, reply.reservation) : '', reply };
  };
  return {
    requestReservation: unary({
      decode: (wire) => ({
        spec: decodeSpec(wire.spec),
        clientRequestId: readText('client_request_id', wire.clientRequestId),
        hold: wire.holdMs,
        isDryRun: wire.dryRun,
      }),
      handle: (request, { userId }) => {
        host.requireDiskSpace();
        // What was only tried has no claim.
        return askPlaced(request.isDryRun ? '' : userId, (replyTo) => ({
          kind: 'ReservationRequested',
          replyTo,
          userId,
          ...request,
        }));
      },
      encode: (seen) => ({
        outcome: getOutcome(seen),
        movedCount: seen.reply.kind === 'placed' ? seen.reply.movedCount : 0,
      }),
    }),
    getReservation: unary({
      decode: ({ reservationId }) => reservationId,
      handle: (reservationId, { userId }) => {
        const found = getReservation(host.state, { userId, reservationId });
        if ('code' in found) throw errorOfRefusal(found);
        return see(userId, found);
      },
      encode: encodeSeen,
    }),
    listReservations: unary({
      decode: decodeFilter,
      handle: (filter, { userId }) => listReservations(host.state, { ...filter, userId }),
      encode: encodePage,
    }),
    renegotiateReservation: unary({
      decode: ({ reservationId, spec }) => ({ reservationId, spec: decodeSpec(spec) }),
      handle: (request, { userId }) => {
        host.requireDiskSpace();
        return askPlaced(userId, (replyTo) => ({ kind: 'RenegotiationRequested', replyTo, userId, ...request }));
      },
      encode: (seen) => ({ outcome: getOutcome(seen) }),
    }),
    cancelReservation: unary({
      decode: ({ reservationId, reason }) => ({ reservationId, reason: readText('reason', reason) }),
      handle: (request, { userId }) =>
        askSeen(userId, (replyTo) => ({ kind: 'CancellationRequested', replyTo, userId, ...request })),
      encode: encodeSeen,
    }),
    confirmReservation: unary({
      decode: ({ reservationId }) => reservationId,
      handle: (reservationId, { userId }) =>
        askSeen(userId, (replyTo) => ({ kind: 'ConfirmationRequested', replyTo, userId, reservationId })),
      encode: encodeSeen,
    }),
    releaseReservation: unary({
      decode: ({ reservationId }) => reservationId,
      handle: (reservationId, { userId }) =>
        askSeen(userId, (replyTo) => ({ kind: 'ReleaseRequested', replyTo, userId, reservationId })),
      encode: encodeSeen,
    }),
  };
}

function encodePage({
  reservations: found,
  nextBefore,
}: ReturnType<typeof listReservations>): ListReservationsResponse {
  const all = found.map((one) => encodeReservation(one, ''));
  const reservations = all.slice(
    0,
    countOfPage(all, (one) => Reservation.encode(one).finish().length),
  );
  return {
    reservations,
    nextBeforeReservationId: reservations.length < all.length ? (reservations.at(-1)?.reservationId ?? 0) : nextBefore,
  };
}

function decodeFilter(wire: ListReservationsRequest) {
  if (wire.pageSize > pageMax) throw badRequest(`page_size is ${wire.pageSize}; expected at most ${pageMax}`);
  return {
    limit: wire.pageSize === 0 ? pageUsual : wire.pageSize,
    before: wire.beforeReservationId === 0 ? Infinity : wire.beforeReservationId,
    isOfAll: wire.allUsers,
    resourceId: readText('resource_id', wire.resourceId),
    statuses: decodeStatuses(wire.statuses),
    from: readInstant('from_unix_ms', wire.fromUnixMs) ?? 0,
    until: wire.untilUnixMs === 0 ? Infinity : wire.untilUnixMs,
  };
}
