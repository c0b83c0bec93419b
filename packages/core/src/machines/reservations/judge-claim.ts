import type { ClaimContents, ReservationRecord, ResourceId } from '../../messages/index.ts';
import { describeInstant, describeTime, type Instant, type UserId } from '../../shared/index.ts';
import type { ReservationsState } from './state.ts';
import type { Refusal } from './turn.ts';

/** A claim as it is shown at a resource. */
export interface ShownClaim {
  /** Undefined where the signature is not ours. */
  readonly claim: ClaimContents | undefined;
  /** Where; empty: not said. */
  readonly resourceId: ResourceId;
  /** By whom; empty: not said. */
  readonly shownBy: UserId;
}

/** What becomes of a claim: the reservation, where it is one of ours, and why it cannot be used now. */
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
        message: 'the claim is not signed by this manager; "reservation show" prints the true one',
      },
    };
  const known = state.reservations.get(claim.reservationId);
  // Numbers may have been given again where a journal was put back; what is another's is told to nobody.
  const reservation = known?.place.userId === claim.userId ? known : undefined;
  const refusal =
    findMismatch(claim, { resourceId, shownBy }) ??
    (reservation === undefined
      ? {
          code: 'MUT_RESERVATION_OVER',
          message:
            `${claim.userId} has no reservation ${claim.reservationId} any more: it has been over for long and is ` +
            'forgotten',
        }
      : (findUnusable(reservation, claim) ?? findUntimely(reservation, now)));
  return { reservation, refusal };
}

function findMismatch(claim: ClaimContents, { resourceId, shownBy }: Omit<ShownClaim, 'claim'>): Refusal | undefined {
  if (shownBy !== '' && shownBy !== claim.userId) {
    return { code: 'MUT_CLAIM_NOT_YOURS', message: `the claim is ${claim.userId}'s and was shown by ${shownBy}` };
  }
  if (resourceId !== '' && resourceId !== claim.resourceId) {
    return {
      code: 'MUT_CLAIM_ELSEWHERE',
      message: `the claim is for ${claim.resourceId} and was shown at ${resourceId}`,
    };
  }
  return undefined;
}

function findUnusable(reservation: ReservationRecord, claim: ClaimContents): Refusal | undefined {
  const { status, revision, reason, place } = reservation;
  if (status === 'held')
    return { code: 'MUT_CLAIM_UNCONFIRMED', message: `reservation ${place.id} is only held; confirm it first` };
  if (status === 'cancelled' || status === 'released')
    return { code: 'MUT_RESERVATION_OVER', message: `reservation ${place.id} is ${status}: ${reason}` };
  if (revision !== claim.revision) {
    return {
      code: 'MUT_CLAIM_SUPERSEDED',
      message:
        `reservation ${place.id} has moved since the claim was signed (revision ${claim.revision}; now ` +
        `${revision}); "reservation show" prints the new claim`,
    };
  }
  const difference = findDifference(reservation, claim);
  return difference === undefined
    ? undefined
    : {
        code: 'MUT_CLAIM_SUPERSEDED',
        message: `the claim for reservation ${place.id} ${difference}; "reservation show" prints the new claim`,
      };
}

/**
 * What a claim of the present revision says that is not so: a manager whose journal was put back from a back-up may
 * have signed it.
 */
function findDifference({ place, resourceId }: ReservationRecord, claim: ClaimContents): string | undefined {
  const { start, end, amount, resources } = place;
  if (claim.startsAt !== start)
    return `begins ${describeInstant(claim.startsAt)}, and the reservation ${describeInstant(start)}`;
  if (claim.endsAt !== end) return `ends ${describeInstant(claim.endsAt)}, and the reservation ${describeInstant(end)}`;
  if (claim.amount !== amount) return `is of ${claim.amount}, and the reservation of ${amount}`;
  if (claim.resourceId !== resourceId) return `is for ${claim.resourceId}, and the reservation for ${resourceId}`;
  if (claim.units.length !== resources.length || claim.units.some((unit, index) => unit !== resources[index]))
    return 'names other units than the reservation has';
  return undefined;
}

function findUntimely(
  { status, place: { id, start, end }, reason }: ReservationRecord,
  now: Instant,
): Refusal | undefined {
  if (now < start)
    return { code: 'MUT_CLAIM_EARLY', message: `reservation ${id} begins in ${describeTime(start - now)}` };
  if (now >= end) return { code: 'MUT_CLAIM_LATE', message: `reservation ${id} ended ${describeTime(now - end)} ago` };
  if (status === 'expired') return { code: 'MUT_CLAIM_LATE', message: `reservation ${id} is expired: ${reason}` };
  return undefined;
}
