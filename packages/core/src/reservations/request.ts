import type { Duration, Instant, UserId } from '../shared/index.ts';

/** A reservation's number at its reservation manager. */
export type ReservationId = number;

/** Amount and duration: fixed, or within limits from which the manager chooses. */
export type Extent = Rigid | Elastic | Malleable;

/** A fixed amount for a fixed duration. */
export interface Rigid {
  readonly kind: 'rigid';
  readonly amount: number;
  readonly duration: Duration;
}

/** As `referenceAmount` would need `referenceDuration`, with linear speed-up: twice as much for half as long. */
export interface Elastic {
  readonly kind: 'elastic';
  readonly amountMin: number;
  readonly amountMax: number;
  /** More than 0; it need not be within the limits. */
  readonly referenceAmount: number;
  readonly referenceDuration: Duration;
}

/** An amount of work: amounts times milliseconds. */
export interface Malleable {
  readonly kind: 'malleable';
  readonly work: number;
  readonly amountMin: number;
  readonly amountMax: number;
}

/** What a user asks for. */
export interface ReservationRequest {
  readonly id: ReservationId;
  readonly userId: UserId;
  readonly extent: Extent;
  /** Now or not at all; within the limits; or now, else as early as possible. Only the second heeds `earliestStart`. */
  readonly timing: 'immediate' | 'advance' | 'on-demand';
  /** Undefined: now. */
  readonly earliestStart: Instant | undefined;
  /** Undefined: never, so that there is always a place. */
  readonly latestEnd: Instant | undefined;
  /** Whether the place is only held until it is confirmed. A hold moves no other reservation. */
  readonly isHold?: boolean;
}

/** A reservation on the calendar. */
export interface PlacedReservation {
  readonly id: ReservationId;
  readonly userId: UserId;
  readonly start: Instant;
  readonly end: Instant;
  readonly amount: number;
  /** Which ones, of counted resources: `amount` of them, ascending, the same throughout; empty for shared ones. */
  readonly resources: readonly number[];
  /** The limits, within which it may be moved. */
  readonly earliestStart: Instant;
  /** Undefined: of low priority in SUVS-P until it begins. */
  readonly latestEnd: Instant | undefined;
  /** A hold, at the place that was shown to the user who may confirm it: it does not move. */
  readonly isHeld?: true;
}

/** A reservation that has another place than before. */
export interface Moved {
  readonly id: ReservationId;
  readonly before: PlacedReservation;
  readonly after: PlacedReservation;
}

/** The request has its place. */
export interface Placement {
  readonly kind: 'placed';
  readonly reservation: PlacedReservation;
  /** Those that made way (SUVS-P), in order of their former starts, then ids. */
  readonly moved: readonly Moved[];
}

/** Why a request is refused; stable. */
export type RefusalReason =
  | 'bad-amount'
  | 'bad-duration'
  | 'start-in-past'
  | 'end-before-start'
  | 'window-too-short'
  | 'above-capacity'
  | 'above-cap'
  | 'above-user-bound'
  | 'too-long'
  | 'not-now'
  | 'no-room'
  | 'user-bound'
  | 'too-many-moves'
  | 'unknown-reservation'
  | 'already-begun';

/** The request is refused, and nothing has changed. */
export interface Refusal {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  /** What was asked, in the unit of the reason: an amount, milliseconds, an instant or a number of moves. */
  readonly found: number;
  /** The possible amount; 0 if there is none or if it takes a search (`alternatives`). */
  readonly possible: number;
}

/** The answer to a request. */
export type Answer = Placement | Refusal;

/** A refusal. */
export function refuse(reason: RefusalReason, found: number, possible: number): Refusal {
  return { kind: 'refused', reason, found, possible };
}

/**
 * The last instant that a calendar knows, so that every reservation has an end that can be written: the end of the year
 * 9999.
 */
export const instantMax = 253_402_300_799_999;

/** The limits of a request with those that were missing: now, and infinity. */
export interface Limits {
  readonly from: Instant;
  /** Infinity without one. */
  readonly latestEnd: Instant;
  /** Whether it starts at `from` or not at all. */
  readonly isImmediate: boolean;
}

/**
 * The limits that hold, or what is wrong with them.
 *
 * @source kunrath2008, 4.2.3: no earliest start is now, no latest end is infinity. Departs from the source: no.
 */
export function findLimits({ timing, earliestStart, latestEnd }: ReservationRequest, now: Instant): Limits | Refusal {
  const from = timing === 'advance' ? (earliestStart ?? now) : now;
  if (!Number.isSafeInteger(from) || from < now) return refuse('start-in-past', from, now);
  if (latestEnd !== undefined && !(latestEnd > from)) return refuse('end-before-start', latestEnd, from);
  return { from, latestEnd: latestEnd ?? Infinity, isImmediate: timing === 'immediate' };
}

/**
 * Laxity: by how much the limits are wider than the duration, as a share of it; Infinity without a latest end. @source
 * kunrath2008, 3.2.
 */
export function getLaxity(from: Instant, latestEnd: Instant, duration: Duration): number {
  return (latestEnd - from) / duration - 1;
}
