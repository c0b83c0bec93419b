import type { ClaimContents, ReservationRecord, ResourceId } from '../../messages/index.ts';
import type { Fault, Refusal } from '../../reasons/index.ts';
import type { Instant, UserId } from '../../shared/index.ts';
import type { ReservationsState } from './state.ts';

/** A claim as it is shown at a resource. */
export interface ShownClaim {
  /** Undefined where the signature is not ours. */
  readonly claim: ClaimContents | undefined;
  /** Where; empty: not said. */
  readonly resourceId: ResourceId;
  /** The user who shows the claim; empty if unknown. */
  readonly shownBy: UserId;
}

/** The judgement of a claim: the reservation, if this manager made it, and why it cannot be used now. */
export interface ClaimJudgement {
  readonly reservation: ReservationRecord | undefined;
  /** Undefined where it may be used. */
  readonly refusal: Refusal | undefined;
}

/** Says whether a claim may be used now. A reservation in use may go on being used. */
export function judgeClaim(
  state: ReservationsState,
  { claim, resourceId, shownBy }: ShownClaim,
  now: Instant,
): ClaimJudgement {
  if (claim === undefined)
    return {
      reservation: undefined,
      refusal: {
        code: 'MUT_CLAIM_FORGED',
        fault: { code: 'claim-forged' },
      },
    };
  const known = state.reservations.get(claim.reservationId);
  // A restored journal may reuse numbers; a reservation of another user must not be disclosed.
  const reservation = known?.place.userId === claim.userId ? known : undefined;
  const refusal =
    findMismatch(claim, { resourceId, shownBy }) ??
    (reservation === undefined
      ? {
          code: 'MUT_RESERVATION_OVER',
          fault: { code: 'claim-forgotten', reservationId: claim.reservationId, userId: claim.userId },
        }
      : (findUnusable(reservation, claim) ?? findUntimely(reservation, now)));
  return { reservation, refusal };
}

function findMismatch(claim: ClaimContents, { resourceId, shownBy }: Omit<ShownClaim, 'claim'>): Refusal | undefined {
  if (shownBy !== '' && shownBy !== claim.userId) {
    return { code: 'MUT_CLAIM_NOT_YOURS', fault: { code: 'claim-of-another-user', userId: claim.userId, shownBy } };
  }
  if (resourceId !== '' && resourceId !== claim.resourceId) {
    return {
      code: 'MUT_CLAIM_ELSEWHERE',
      fault: { code: 'claim-for-another-resource', resourceId: claim.resourceId, shownAt: resourceId },
    };
  }
  return undefined;
}

function findUnusable(reservation: ReservationRecord, claim: ClaimContents): Refusal | undefined {
  const {
    status,
    revision,
    place: { id: reservationId },
  } = reservation;
  if (status === 'held') return { code: 'MUT_CLAIM_UNCONFIRMED', fault: { code: 'claim-unconfirmed', reservationId } };
  if (status === 'cancelled' || status === 'released')
    return { code: 'MUT_RESERVATION_OVER', fault: { code: 'reservation-over', reservationId, status } };
  if (revision !== claim.revision) {
    return {
      code: 'MUT_CLAIM_SUPERSEDED',
      fault: { code: 'claim-of-old-revision', reservationId, claimRevision: claim.revision, revision },
    };
  }
  const fault = findDifference(reservation, claim);
  return fault === undefined ? undefined : { code: 'MUT_CLAIM_SUPERSEDED', fault };
}

/**
 * What a claim of the present revision says that is not so: a manager whose journal was put back from a back-up may
 * have signed it.
 */
function findDifference({ place, resourceId }: ReservationRecord, claim: ClaimContents): Fault | undefined {
  const { id: reservationId, start, end, amount, resources } = place;
  if (claim.startsAt !== start)
    return {
      code: 'claim-start-differs',
      reservationId,
      claimUnixMs: claim.startsAt,
      reservationUnixMs: start,
    };
  if (claim.endsAt !== end)
    return { code: 'claim-end-differs', reservationId, claimUnixMs: claim.endsAt, reservationUnixMs: end };
  if (claim.amount !== amount)
    return { code: 'claim-amount-differs', reservationId, claimAmount: claim.amount, reservationAmount: amount };
  if (claim.resourceId !== resourceId)
    return { code: 'claim-resource-differs', reservationId, claimResourceId: claim.resourceId, resourceId };
  if (claim.units.length !== resources.length || claim.units.some((unit, index) => unit !== resources[index]))
    return { code: 'claim-units-differ', reservationId };
  return undefined;
}

function findUntimely(
  { status, place: { id: reservationId, start, end } }: ReservationRecord,
  now: Instant,
): Refusal | undefined {
  if (now < start)
    return { code: 'MUT_CLAIM_EARLY', fault: { code: 'claim-early', reservationId, untilStartMs: start - now } };
  if (now >= end) return { code: 'MUT_CLAIM_LATE', fault: { code: 'claim-late', reservationId, endedMs: now - end } };
  if (status === 'expired')
    return { code: 'MUT_CLAIM_LATE', fault: { code: 'reservation-over', reservationId, status } };
  return undefined;
}
