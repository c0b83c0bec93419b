import type { Cause, Fault, Reason } from '../reasons/index.ts';
import type { PlacedReservation } from '../reservations/index.ts';
import type { Provisioning } from './provisioning.ts';
import type { Duration, Instant, ProcessorCount, UserId } from '../shared/index.ts';

/** The name of a resource, unique at its reservation manager. */
export type ResourceId = string;

/** `held` lapses unless it is confirmed; `claimed` is in use; the last three are over. */
export type ReservationStatus = 'held' | 'confirmed' | 'claimed' | 'released' | 'expired' | 'cancelled';

/** `immediate`: now or not at all; `on-demand`: now or else as early as possible; `advance`: between its limits. */
export type Timing = 'advance' | 'immediate' | 'on-demand';

/** What a resource is measured in. */
export type ResourceDimension = 'count' | 'bytes' | 'bytes-per-second' | 'hertz';

/** What an owner decides about a resource. */
export interface ResourceRules {
  /** The most that reservations may take together, in millionths of the total; 1 to 1,000,000. */
  readonly capPpm: number;
  readonly algorithm: 'suvs' | 'suvs-p';
  readonly placement: 'first-fit' | 'min-lip' | 'min-tip';
  /** Longest reservation; 0 for any. */
  readonly durationMax: Duration;
  /** Reservations that one user may have at a time; 0 for any. */
  readonly reservationsPerUserMax: number;
  /** The most that the reservations of one user may take together at any instant; 0 for any. */
  readonly amountPerUserMax: number;
  /** Reservations that one request may move, with SUVS-P. */
  readonly movesMax: number;
  /** A reservation that is unclaimed for this time is given back; 0 keeps it until its end. */
  readonly unclaimedMax: Duration;
}

/** Units or capacity that are unavailable: for maintenance, or since they failed. */
export interface Outage {
  /** Counted from 1 at each resource. */
  readonly id: number;
  readonly kind: 'maintenance' | 'failure';
  /** Its owner's name for a maintenance; empty for a failure. */
  readonly name: string;
  readonly startsAt: Instant;
  /** 0 for good, as of a failure. */
  readonly endsAt: Instant;
  /** Which units, sorted; empty for a capacity. */
  readonly units: readonly number[];
  /** Units, or capacity. */
  readonly amount: number;
  readonly reason: string;
}

/** What can be reserved: identical units, each as a whole, or shares of one capacity. */
export interface ResourceRecord {
  readonly id: ResourceId;
  readonly ownerId: UserId;
  /** What it is, in a word. */
  readonly type: string;
  /** `counted` is measured in `count`. */
  readonly kind: 'counted' | 'shared';
  /** Units, counted from 0, or the capacity in base units; 1 or more. */
  readonly total: number;
  readonly dimension: ResourceDimension;
  readonly rules: ResourceRules;
}

/** A resource as it is now. */
export interface ResourceState {
  readonly resource: ResourceRecord;
  /** Sorted by id. */
  readonly outages: readonly Outage[];
  /** Reservations that are not over. */
  readonly livingCount: number;
}

/** How much is asked for. */
export type RequestedAmount =
  /** As people write it: `4`, `30%`, `200KB/s`. */
  | { readonly kind: 'text'; readonly text: string }
  /** From `amountMin` to `amountMax` units; n of them take duration x reference / n. */
  | {
      readonly kind: 'elastic';
      readonly amountMin: number;
      readonly amountMax: number;
      readonly referenceAmount: number;
    }
  /** An amount of work in units times milliseconds. */
  | { readonly kind: 'malleable'; readonly work: number; readonly amountMin: number; readonly amountMax: number };

/** What a user asks for. */
export interface ReservationSpec {
  readonly resourceId: ResourceId;
  readonly amount: RequestedAmount;
  /** 0 where the amount is malleable. */
  readonly duration: Duration;
  /** Undefined: now. */
  readonly earliestStart: Instant | undefined;
  /** Undefined: any. */
  readonly latestEnd: Instant | undefined;
  readonly timing: Timing;
}

/** That a reservation is one of several that stand or fall together, with one of them, wherever that is. */
export interface GroupLink {
  /** Chosen by the client that requests the group, and hard to guess: it gives access to the outcome of the group. */
  readonly groupId: string;
  /** Address of the manager that has the one that decides; empty for this one. */
  readonly manager: string;
  /** The one that decides: once it is confirmed all stand, and none does when it is over. */
  readonly reservationId: number;
}

/** The outcome of an atomic group of reservations; `unknown` if this manager has no record of the group. */
export type GroupOutcome = 'open' | 'committed' | 'aborted' | 'unknown';

/** A reservation as its manager keeps it. */
export interface ReservationRecord {
  /** With its number, its user and its limits; after its end, the former place. */
  readonly place: PlacedReservation;
  readonly resourceId: ResourceId;
  readonly status: ReservationStatus;
  /** When a hold lapses; 0 unless `status` is `held`. */
  readonly holdUntil: Instant;
  readonly requestedAt: Instant;
  /** When its use began; 0 before. */
  readonly claimedAt: Instant;
  /** 0 while it is not over. */
  readonly endedAt: Instant;
  /** Counts from 1 and grows whenever its interval changes; a claim of an earlier revision is no longer valid. */
  readonly revision: number;
  /** Why it is where it is, or why it is over. */
  readonly reason: Cause;
  /** Empty where the user gave none. */
  readonly clientRequestId: string;
  /** The key of the claim that began its use; empty before. */
  readonly claimKey: string;
  /**
   * Of what its user asked for with `clientRequestId`, so that the key is good for no other spec. Left out where there
   * is no key; one of an old journal is good for any.
   */
  readonly requestFingerprint?: number | undefined;
  /** Left out for a single reservation. While it is held it is prepared: the coordinator commits or aborts it. */
  readonly together?: GroupLink | undefined;
  /**
   * What the provider last reported of the processors that it pre-acquired for the reservation; left out if it reported
   * nothing. After the reservation's end, the state at that end.
   */
  readonly ahead?: Provisioning | undefined;
}

/** An available place other than the one that was asked for. */
export interface Alternative {
  readonly startsAt: Instant;
  readonly endsAt: Instant;
  readonly amount: number;
  /** What differs. */
  readonly reason: Reason;
}

/** Why there is no place, and which there would be. */
export interface PlacementRefusal {
  readonly code: string;
  readonly fault: Fault;
  readonly alternatives: readonly Alternative[];
}

/** What a claim says. */
export interface ClaimContents {
  readonly reservationId: number;
  readonly resourceId: ResourceId;
  readonly userId: UserId;
  readonly startsAt: Instant;
  readonly endsAt: Instant;
  readonly amount: number;
  /** Ascending; empty for a capacity. */
  readonly units: readonly number[];
  readonly revision: number;
}

/**
 * What becomes of the tasks that are left when a job's reservation is over: they run wherever there is a machine, or
 * wait.
 */
export type OnReservationEnd = 'continue' | 'wait';

/** A reservation by the claim that shows it: what the claim says, and its text. */
export interface ClaimedReservation extends ClaimContents {
  readonly claim: string;
}

/** The reservation that a job runs inside of. */
export interface JobReservation extends ClaimedReservation {
  readonly after: OnReservationEnd;
  /**
   * It was asked for on the job's behalf: its tasks run wherever there is a machine, and inside it too; given back when
   * the job has ended. Never where what is left waits.
   */
  readonly isOwn?: true;
}

/** What is wanted of a provider inside one reservation of its resource. */
export interface ReservedDemand extends ClaimedReservation {
  /** Its dates or its amount are not those of its claim, for it has moved since, or was resized. */
  readonly hasMoved?: true;
  /** Processors that the tasks can use now, 1 to the reserved amount. */
  readonly processors: ProcessorCount;
}

/** Which reservation something belongs to, as one claim shows it. */
export interface ReservationName extends Pick<ClaimContents, 'resourceId' | 'reservationId' | 'revision' | 'userId'> {
  /** The end of the claim's signature: what a claim that was changed says is not of the reservation. */
  readonly mark: string;
}

/** An allocation request's reservation. */
export interface RequestReservation extends ReservationName {
  /** The code that its manager gave for the reservation's end; empty before. */
  readonly overCode: string;
  /**
   * When it is and of how many processors, if its resource reports otherwise than its claim: it was moved or resized.
   * The amount is left out by managers that report dates alone.
   */
  readonly movedTo?: Pick<ClaimContents, 'startsAt' | 'endsAt'> & { readonly amount?: ProcessorCount };
}

/** Characters of a claim that distinguish it from another one of the same reservation. */
const markLength = 12;

/**
 * The status of a reservation at its resource, whose provider pre-acquires allocations for it: its present interval and
 * amount, whatever its claim says, and what is pre-acquired.
 */
export interface ReservedStatus {
  readonly reservation: ReservationName;
  readonly startsAt: Instant;
  readonly endsAt: Instant;
  readonly amount: ProcessorCount;
  readonly ahead: Provisioning;
}

/** The reservation that a claim shows. */
export function nameReservation({
  resourceId,
  reservationId,
  revision,
  userId,
  claim,
}: ClaimedReservation): ReservationName {
  return { resourceId, reservationId, revision, userId, mark: claim.slice(-markLength) };
}

/** A key that differs between reservations, revisions of a reservation, and claims. */
export function reservationKey({ resourceId, reservationId, revision, userId, mark }: ReservationName): string {
  return `${resourceId}/${reservationId}.${revision}/${userId}/${mark}`;
}

/** Whether a claim shows that reservation. */
export function isOfReservation(
  { resourceId, reservationId, revision, userId, claim }: ClaimedReservation,
  name: ReservationName,
): boolean {
  return (
    reservationId === name.reservationId &&
    revision === name.revision &&
    resourceId === name.resourceId &&
    userId === name.userId &&
    claim.endsWith(name.mark)
  );
}
