import { areSameReasons, type Cause, type Fault, type Reason, type Refusal } from '../../reasons/index.ts';
import type { Provisioning, ReservationRecord, ResourceRecord } from '../../messages/index.ts';
import { invariant, type Instant } from '../../shared/index.ts';
import { isRefusal } from './admission.ts';
import { getEntry } from './apply.ts';
import type { ReservationFact } from './changes.ts';
import type { ReservationsInput } from './inputs.ts';
import { judgeClaim } from './judge-claim.ts';
import { findManaged, findOwn, isOwner } from './owners.ts';
import { getDue, isLiving, isPrepared } from './state.ts';
import type { Turn } from './turn.ts';

type GetInput<K extends ReservationsInput['kind']> = Extract<ReservationsInput, { kind: K }>;

/** Turns a hold into a reservation; one that is confirmed already is left so. */
export function confirm(turn: Turn, input: GetInput<'ConfirmationRequested'>): void {
  answer(turn, input.replyTo, findOwn(turn.state, input), (known) => {
    if (known.status === 'confirmed' || known.status === 'claimed') return known;
    if (known.status !== 'held')
      return {
        code: 'MUT_RESERVATION_OVER',
        fault: { code: 'reservation-over', reservationId: known.place.id, status: known.status },
      };
    const confirmed: ReservationRecord = { ...known, status: 'confirmed', holdUntil: 0 };
    const { resource } = getEntry(turn.state, known.resourceId);
    // It would be given back at once, although its confirmation was accepted.
    if (getDue(confirmed, resource, turn.state.startedAt) <= turn.now)
      return { code: 'MUT_RESERVATION_OVER', fault: getLateConfirmation(known, resource, turn.now) };
    return put(turn, 'confirmed', confirmed);
  });
}

function getLateConfirmation(
  { place: { id, start } }: ReservationRecord,
  { rules: { unclaimedMax } }: ResourceRecord,
  now: Instant,
): Fault {
  return {
    code: 'confirmation-too-late',
    reservationId: id,
    begunMs: now - start,
    unclaimedMsMax: unclaimedMax,
  };
}

/** Gives a reservation back; one that is over stays as it is. A user who cancels another's must give a reason. */
export function cancel(turn: Turn, input: GetInput<'CancellationRequested'>): void {
  const { state } = turn;
  answer(turn, input.replyTo, findManaged(state, input), (known) => {
    if (!isLiving(known)) return known;
    const isOwn = known.place.userId === input.userId;
    if (!isOwn && input.reason === '')
      return {
        code: 'MUT_BAD_REQUEST',
        fault: {
          code: 'cancellation-without-reason',
          reservationId: known.place.id,
          userId: known.place.userId,
        },
      };
    const reason = getCancelReason(input, isOwn);
    return put(turn, 'cancelled', over(turn, known, { status: 'cancelled', reason }));
  });
}

function getCancelReason({ reason, userId }: GetInput<'CancellationRequested'>, isOwn: boolean): Cause {
  if (!isOwn) return { code: 'reservation-cancelled-by-other', userId, cause: reason };
  return reason === '' ? { code: 'reservation-cancelled-by-user' } : reason;
}

/** Ends the use of a reservation; one that is over is left so. */
export function release(turn: Turn, input: GetInput<'ReleaseRequested'>): void {
  answer(turn, input.replyTo, findManaged(turn.state, input), (known) => {
    if (!isLiving(known)) return known;
    if (known.status !== 'claimed')
      return {
        code: 'MUT_NOT_CLAIMED',
        fault: { code: 'reservation-not-in-use', reservationId: known.place.id, status: known.status },
      };
    const reason = { code: 'reservation-released-early', earlyMs: known.place.end - turn.now } as const;
    return put(turn, 'released', over(turn, known, { status: 'released', reason }));
  });
}

/** Begins the use of a reservation, once: a repeat is known by its key. */
export function showClaim(turn: Turn, input: GetInput<'ClaimShown'>): void {
  const { state, now } = turn;
  const { reservation, refusal } = judgeClaim(
    state,
    { ...input, shownBy: input.shownBy === '' ? input.userId : input.shownBy },
    now,
  );
  const isAllowed =
    reservation === undefined ||
    input.userId === reservation.place.userId ||
    isOwner(state, getEntry(state, reservation.resourceId).resource, input.userId);
  const found: Refusal | undefined =
    refusal ??
    (isAllowed ? undefined : { code: 'MUT_NOT_OWNER', fault: { code: 'claim-by-others', userId: input.userId } });
  const judged = found ?? reservation;
  invariant(judged !== undefined, 'a claim without a judgement');
  answer(turn, input.replyTo, judged, (known) => {
    if (known.status !== 'claimed') return beginUse(turn, known, input.key);
    if (input.key !== '' && input.key === known.claimKey) return known;
    return {
      code: 'MUT_CLAIM_USED',
      fault: { code: 'claim-used', reservationId: known.place.id, claimedMs: now - known.claimedAt },
    };
  });
}

/**
 * Notes that a reservation is in use, as its provider reports: by its number, because the claim that the user showed
 * may be superseded by now, or forgotten.
 */
export function reportUse(turn: Turn, input: GetInput<'UseReported'>): void {
  answer(turn, input.replyTo, findManaged(turn.state, input), (known) => {
    const refusal = findNoUse(turn, known, input);
    if (refusal !== undefined || known.status === 'claimed') return refusal ?? known;
    return beginUse(turn, known, input.key);
  });
}

function beginUse(turn: Turn, known: ReservationRecord, claimKey: string): ReservationRecord {
  const reason = { code: 'reservation-in-use' } as const;
  return put(turn, 'claimed', { ...known, status: 'claimed', claimedAt: turn.now, claimKey, reason });
}

/**
 * Notes the processors that are pre-acquired for a reservation; one that is over stays as it was. A repeated report
 * changes nothing.
 */
export function noteProvisioning(
  turn: Turn,
  { replyTo, userId, reservationId, ahead }: GetInput<'ProvisioningReported'>,
): void {
  const { state } = turn;
  answer(turn, replyTo, findManaged(state, { userId, reservationId }), (known) => {
    const { resource } = getEntry(state, known.resourceId);
    if (!isOwner(state, resource, userId))
      return {
        code: 'MUT_NOT_OWNER',
        fault: { code: 'provisioning-by-others', resourceId: known.resourceId, userId },
      };
    if (ahead.heldCount + ahead.askedCount > resource.total) {
      return {
        code: 'MUT_BAD_REQUEST',
        fault: {
          code: 'provisioning-above-total',
          readyAmount: ahead.heldCount,
          requestedAmount: ahead.askedCount,
          totalAmount: resource.total,
          resourceId: known.resourceId,
        },
      };
    }
    return isLiving(known) && !isSameProvisioning(known.ahead, ahead)
      ? put(turn, 'provisioned', { ...known, ahead })
      : known;
  });
}

const aheadFields = ['status', 'heldCount', 'askedCount', 'askAt', 'expectedAt', 'chance'] as const;

function isSameProvisioning(one: Provisioning | undefined, other: Provisioning): boolean {
  return (
    one !== undefined &&
    aheadFields.every((name) => one[name] === other[name]) &&
    areSameReasons(one.reasons, other.reasons)
  );
}

function findNoUse(
  { state, now }: Turn,
  { place, resourceId, status }: ReservationRecord,
  input: GetInput<'UseReported'>,
): Refusal | undefined {
  const { id: reservationId, userId, start } = place;
  if (!isOwner(state, getEntry(state, resourceId).resource, input.userId)) {
    return {
      code: 'MUT_NOT_OWNER',
      fault: { code: 'use-by-others', resourceId, userId: input.userId },
    };
  }
  if (input.resourceId !== '' && input.resourceId !== resourceId)
    return {
      code: 'MUT_CLAIM_ELSEWHERE',
      fault: { code: 'use-at-another-resource', reservationId, resourceId, usedAt: input.resourceId },
    };
  if (input.usedBy !== '' && input.usedBy !== userId)
    return {
      code: 'MUT_CLAIM_NOT_YOURS',
      fault: { code: 'use-by-another-user', reservationId, userId, usedBy: input.usedBy },
    };
  if (status === 'held') return { code: 'MUT_CLAIM_UNCONFIRMED', fault: { code: 'claim-unconfirmed', reservationId } };
  if (status !== 'confirmed' && status !== 'claimed')
    return { code: 'MUT_RESERVATION_OVER', fault: { code: 'reservation-over', reservationId, status } };
  return now < start
    ? { code: 'MUT_CLAIM_EARLY', fault: { code: 'claim-early', reservationId, untilStartMs: start - now } }
    : undefined;
}

/**
 * Handles what is due: holds lapse, unclaimed reservations are given back, uses end, outages are over. Cost: O(log n)
 * each.
 */
export function endDue(turn: Turn): void {
  const {
    state: { timers },
    now,
  } = turn;
  for (let due = timers.first; due !== undefined && due.at <= now; due = timers.first) {
    timers.pop();
    if (due.kind === 'outage') endOutage(turn, due);
    else endReservation(turn, due);
  }
}

function endOutage(
  turn: Turn,
  { resourceId, outageId }: { readonly resourceId: string; readonly outageId: number },
): void {
  const { state, now } = turn;
  const outage = getEntry(state, resourceId).outages.get(outageId);
  if (outage !== undefined && outage.endsAt !== 0 && outage.endsAt <= now)
    turn.change({ kind: 'OutageRemoved', resourceId, outageId, reason: { code: 'outage-over' } });
}

function endReservation(turn: Turn, due: { readonly at: Instant; readonly id: number }): void {
  const { state, now } = turn;
  const { id } = due;
  const counted = state.timerInstants.get(id);
  if (counted !== undefined && counted !== due.at) return;
  const known = state.reservations.get(id);
  if (known === undefined || !isLiving(known)) return;
  const { resource } = getEntry(state, known.resourceId);
  const at = getDue(known, resource, state.startedAt);
  if (at > now) {
    state.timers.push({ at, kind: 'reservation', id });
    if (counted !== undefined) state.timerInstants.set(id, at);
    return;
  }
  if (known.status === 'claimed')
    put(turn, 'released', over(turn, known, { status: 'released', reason: { code: 'reservation-used-up' } }));
  else if (known.status === 'held')
    put(
      turn,
      'expired',
      over(turn, known, {
        status: 'expired',
        reason: { code: isPrepared(known) ? 'reservation-group-undecided' : 'reservation-hold-expired' },
      }),
    );
  else
    put(
      turn,
      'expired',
      over(turn, known, { status: 'expired', reason: explainUnclaimed(known, at, state.startedAt) }),
    );
}

function explainUnclaimed({ place: { start } }: ReservationRecord, at: Instant, startedAt: Instant): Reason {
  if (startedAt <= start) return { code: 'reservation-unclaimed', withinMs: at - start, since: 'start' };
  if (startedAt >= at) return { code: 'reservation-missed' };
  return { code: 'reservation-unclaimed', withinMs: at - startedAt, since: 'manager-start' };
}

/** Forgets the reservations that have been over the longest, beyond the limit. */
export function forgetOld(turn: Turn): void {
  const {
    endedIds,
    options: { endedMax },
  } = turn.state;
  const excess = endedIds.size - endedMax;
  if (excess <= 0) return;
  const ids: number[] = [];
  for (const id of endedIds) {
    if (ids.length === excess) break;
    ids.push(id);
  }
  turn.change({ kind: 'ReservationsForgotten', ids });
}

/** A reservation that is over from now on. */
export function over(
  { now }: Turn,
  known: ReservationRecord,
  { status, reason }: Pick<ReservationRecord, 'status' | 'reason'>,
): ReservationRecord {
  return { ...known, status, reason, endedAt: now, holdUntil: 0 };
}

/** Makes a change to one reservation. */
export function put(turn: Turn, fact: ReservationFact, reservation: ReservationRecord): ReservationRecord {
  turn.change({ kind: 'ReservationsPut', reported: [{ fact, reservation }] });
  return reservation;
}

/** Answers with what becomes of a reservation that was found. */
export function answer(
  turn: Turn,
  replyTo: number,
  found: ReservationRecord | Refusal,
  act: (known: ReservationRecord) => ReservationRecord | Refusal,
): void {
  const result = isRefusal(found) ? found : act(found);
  if (isRefusal(result)) turn.refuse(replyTo, result);
  else turn.reply(replyTo, result);
}
