import type { Alternative, PlacementRefusal, ReservationRecord } from '../../messages/index.ts';
import type { Reason, Refusal } from '../../reasons/index.ts';
import type {
  Alternatives,
  Answer,
  Moved,
  Placement,
  PlacedReservation,
  Refusal as CalendarRefusal,
  ReservationRequest,
} from '../../reservations/index.ts';
import type { Instant } from '../../shared/index.ts';
import {
  findExcess,
  findHoldFault,
  findResource,
  isNegotiable,
  isRefusal,
  getRefusal,
  findRequest,
} from './admission.ts';
import { getEntry, measureWork } from './apply.ts';
import type { ReservationReported } from './changes.ts';
import type { PlacementReply } from './commands.ts';
import type { ReservationsInput } from './inputs.ts';
import { fingerprintRequest } from './fingerprint-request.ts';
import { findOwn } from './owners.ts';
import type { ReservationsState, ResourceEntry } from './state.ts';
import type { Turn } from './turn.ts';
import { findQuotaFault } from './user-quotas.ts';

type Requested = Extract<ReservationsInput, { kind: 'ReservationRequested' }>;
type Renegotiation = Extract<ReservationsInput, { kind: 'RenegotiationRequested' }>;

/**
 * Places a reservation, or finds the one that the same request made before, or says why not and what would be possible.
 */
export function requestReservation(turn: Turn, input: Requested): void {
  const { state } = turn;
  const known = findRepeated(state, input);
  if (known !== undefined) {
    const reuse = findReuse(known, input);
    if (reuse === undefined) turn.reply(input.replyTo, placed(known, 0));
    else turn.refuse(input.replyTo, reuse);
    return;
  }
  const asked = admit(turn, input);
  if (isRefusal(asked)) {
    turn.refuse(input.replyTo, asked);
    return;
  }
  const { entry, request } = asked;
  const answer = input.isDryRun
    ? entry.calendar.tryRequest(request, turn.now)
    : entry.calendar.request(request, turn.now);
  if (answer.kind === 'refused') {
    answerRefusal(turn, { replyTo: input.replyTo, answer, entry, request });
    return;
  }
  const reservation = newRecord(turn, input, answer);
  if (!input.isDryRun)
    turn.change({
      kind: 'ReservationsPut',
      reported: [
        { fact: input.hold > 0 ? 'held' : 'confirmed', reservation },
        ...reportMoved(state, answer.moved, reservation.place.id),
      ],
    });
  turn.reply(input.replyTo, placed(reservation, answer.moved.length));
}

/** Moves or resizes a reservation that has not begun; it keeps its old place if there is no new one. */
export function renegotiate(turn: Turn, input: Renegotiation): void {
  const { state, now } = turn;
  const known = findOwn(state, input);
  if (isRefusal(known)) {
    turn.refuse(input.replyTo, known);
    return;
  }
  const entry = getEntry(state, known.resourceId);
  const fault = findTooLate(known, now) ?? findOtherResource(known, input.spec.resourceId);
  const request =
    fault ??
    findRequest(entry, input.spec, { id: known.place.id, userId: known.place.userId, isHold: known.status === 'held' });
  if (isRefusal(request)) {
    turn.refuse(input.replyTo, request);
    return;
  }
  const excess = findQuotaFault(turn, entry, request, measureWork(known));
  if (excess !== undefined) {
    turn.refuse(input.replyTo, excess);
    return;
  }
  const answer = entry.calendar.renegotiate(known.place.id, request, now);
  if (answer.kind === 'refused') {
    answerRefusal(turn, { replyTo: input.replyTo, answer, entry, request, without: known.place.id });
    return;
  }
  const place = answer.reservation;
  const reservation: ReservationRecord = {
    ...known,
    place,
    revision: known.revision + 1,
    reason: explainPlace(place, answer.moved.length),
  };
  turn.change({
    kind: 'ReservationsPut',
    reported: [{ fact: 'renegotiated', reservation }, ...reportMoved(state, answer.moved, place.id)],
  });
  turn.reply(input.replyTo, placed(reservation, answer.moved.length));
}

/**
 * The reservations that gave way, as they are now. @param toId of the one that they gave way to; undefined where that
 * was an outage.
 */
export function reportMoved(
  state: ReservationsState,
  moved: readonly Moved[],
  toId: number | undefined,
): ReservationReported[] {
  return moved.flatMap(({ id, before, after }): ReservationReported[] => {
    const reservation = state.reservations.get(id);
    if (reservation === undefined) return [];
    const laterMs = after.start - before.start;
    return [
      {
        fact: 'moved',
        reservation: {
          ...reservation,
          place: after,
          revision: reservation.revision + 1,
          reason: {
            code: 'reservation-moved',
            laterMs,
            ...(toId === undefined ? {} : { forReservationId: toId }),
          },
        },
      },
    ];
  });
}

function findRepeated(state: ReservationsState, { userId, clientRequestId }: Requested): ReservationRecord | undefined {
  return clientRequestId === '' ? undefined : state.reservations.findByKey(userId, clientRequestId);
}

/** A key belongs to one spec: with another spec, it would get a reservation that was made for the first. */
function findReuse(
  { place: { id }, resourceId, requestedAt, requestFingerprint }: ReservationRecord,
  input: Requested,
): Refusal | undefined {
  if (requestFingerprint === undefined || requestFingerprint === fingerprintRequest(input)) return undefined;
  const { clientRequestId: key } = input;
  return {
    code: 'MUT_KEY_REUSED',
    fault: {
      code: 'key-of-another-reservation',
      key,
      reservationId: id,
      resourceId,
      requestedUnixMs: requestedAt,
    },
  };
}

function admit(
  turn: Turn,
  { spec, userId, hold }: Requested,
): { readonly entry: ResourceEntry; readonly request: ReservationRequest } | Refusal {
  const { state } = turn;
  const entry = findResource(state, spec.resourceId);
  if (isRefusal(entry)) return entry;
  const fault = findHoldFault(state, hold) ?? findExcess(state, entry, userId);
  const request = fault ?? findRequest(entry, spec, { id: state.nextReservationId, userId, isHold: hold > 0 });
  if (isRefusal(request)) return request;
  return findQuotaFault(turn, entry, request) ?? { entry, request };
}

function newRecord(
  { now }: Turn,
  { spec, clientRequestId, hold }: Requested,
  { reservation: place, moved }: Placement,
): ReservationRecord {
  return {
    place,
    resourceId: spec.resourceId,
    status: hold > 0 ? 'held' : 'confirmed',
    holdUntil: hold > 0 ? now + hold : 0,
    requestedAt: now,
    claimedAt: 0,
    endedAt: 0,
    revision: 1,
    reason: explainPlace(place, moved.length),
    clientRequestId,
    claimKey: '',
    ...(clientRequestId === '' ? {} : { requestFingerprint: fingerprintRequest({ spec, hold }) }),
  };
}

function explainPlace({ start, earliestStart }: PlacedReservation, movedReservations: number): Reason {
  return { code: 'reservation-placed', afterMs: start - earliestStart, movedReservations };
}

function findTooLate({ place, status }: ReservationRecord, now: Instant): Refusal | undefined {
  const isOver = status !== 'held' && status !== 'confirmed' && status !== 'claimed';
  if (isOver)
    return {
      code: 'MUT_RESERVATION_OVER',
      fault: { code: 'reservation-over-ask-again', reservationId: place.id, status },
    };
  if (status === 'claimed' || place.start <= now) {
    return {
      code: 'MUT_RESERVATION_BEGUN',
      fault: { code: 'reservation-begun', reservationId: place.id, begunMs: now - place.start },
    };
  }
  return undefined;
}

function findOtherResource({ resourceId, place }: ReservationRecord, wanted: string): Refusal | undefined {
  if (wanted === '' || wanted === resourceId) return undefined;
  return {
    code: 'MUT_BAD_REQUEST',
    fault: {
      code: 'reservation-of-another-resource',
      reservationId: place.id,
      resourceId,
      wantedResourceId: wanted,
    },
  };
}

interface RefusedAnswer {
  readonly replyTo: number;
  readonly answer: CalendarRefusal & Answer;
  readonly entry: ResourceEntry;
  readonly request: ReservationRequest;
  /** Whose place counts as free. */
  readonly without?: number;
}

function answerRefusal(
  turn: Turn,
  {
    replyTo,
    answer,
    entry: {
      calendar,
      resource: { dimension },
    },
    request,
    without,
  }: RefusedAnswer,
): void {
  if (!isNegotiable(answer)) {
    turn.refuse(replyTo, getRefusal(answer, dimension));
    return;
  }
  const refusal: PlacementRefusal = {
    ...getRefusal(answer, dimension),
    alternatives: alternativesTo(calendar.alternatives(request, turn.now, without)),
  };
  turn.reply(replyTo, { kind: 'refused', refusal } satisfies PlacementReply);
}

/** The available alternatives, each with one change. */
function alternativesTo({ earliest, widest, longest }: Alternatives): Alternative[] {
  const reported: Alternative[] = [];
  if (earliest !== undefined)
    reported.push({
      startsAt: earliest.start,
      endsAt: earliest.end,
      amount: earliest.amount,
      reason: { code: 'alternative-later' },
    });
  if (widest !== undefined)
    reported.push({
      startsAt: widest.start,
      endsAt: widest.end,
      amount: widest.amount,
      reason: { code: 'alternative-smaller' },
    });
  if (longest !== undefined)
    reported.push({
      startsAt: longest.start,
      endsAt: longest.end,
      amount: longest.amount,
      reason: { code: 'alternative-shorter' },
    });
  return reported;
}

function placed(reservation: ReservationRecord, movedCount: number): PlacementReply {
  return { kind: 'placed', reservation, movedCount };
}
