import type { Outage, ResourceId, ResourceRecord } from '../../messages/index.ts';
import type { QuotaRules } from '../../quotas/index.ts';
import type { Calendar } from '../../reservations/index.ts';
import { Heap, type Duration, type Instant, type UserId } from '../../shared/index.ts';
import { ReservationRecords } from './reservation-records.ts';
import type { ReservationBrief, StoredReservations } from './stored-reservations.ts';

export { isLiving, isPrepared } from './resource-status.ts';

/** How a reservation manager is set up; from its configuration, not from its journal. */
export interface ReservationsOptions {
  /** The user who may do everything. */
  readonly ownerId: UserId;
  /** The other users who may register resources. */
  readonly registrars: readonly UserId[];
  /** Reservations that are not over, of all resources together. */
  readonly livingMax: number;
  /** Reservations that are over and remembered, for listings and for repeated requests. */
  readonly endedMax: number;
  /** What users may have reserved. */
  readonly quotas?: QuotaRules;
  /** Longest hold. */
  readonly holdMax: Duration;
}

/** One resource with its calendar. */
export interface ResourceEntry {
  resource: ResourceRecord;
  readonly registeredAt: Instant;
  /** Holds the places of the living reservations, and the outages as blocks; nothing else. */
  calendar: Calendar;
  /** By id, ascending. */
  readonly outages: Map<number, Outage>;
  nextOutageId: number;
  /** Reservations of each user that are not over; no zeros. */
  readonly livingByUser: Map<UserId, number>;
  /** Amount times milliseconds of those reservations, of users who have any. */
  readonly workByUser: Map<UserId, number>;
  livingCount: number;
}

/**
 * When calendars begin: not when their resource was made known, since the clock may have been ahead then and be set
 * back.
 */
export const calendarStart: Instant = 0;

/** When something needs attention. It may be out of date: its present state decides when it is due. */
export type Due =
  | { readonly at: Instant; readonly kind: 'reservation'; readonly id: number }
  | { readonly at: Instant; readonly kind: 'outage'; readonly resourceId: ResourceId; readonly outageId: number };

/** Everything that a reservation manager knows. */
export interface ReservationsState {
  readonly options: ReservationsOptions;
  readonly resources: Map<ResourceId, ResourceEntry>;
  /** By id; those that are over as far as they are remembered. */
  readonly reservations: ReservationRecords;
  /** Of remembered reservations that are over, in the order of their ends. */
  readonly endedIds: Set<number>;
  /** Has an entry for each living reservation and each outage with an end, no later than its instant. */
  timers: Heap<Due>;
  /**
   * Of living reservations that may have several entries in `timers`: when the one is that counts, no later than its
   * instant. The others are dropped when their time comes.
   */
  readonly timerInstants: Map<number, Instant>;
  livingCount: number;
  /** Held reservations that stand or fall with another one. */
  readonly preparedIds: Set<number>;
  nextReservationId: number;
  /** What the last WakeAt asked for, so that it is not repeated; not promised, so not journaled. */
  wakeAt: Instant | undefined;
  /** When this life of the manager began, from when on uses are reported to it; 0 before. Not journaled. */
  startedAt: Instant;
}

/** A manager without resources. @param stored the caller's store; left out if there is none. */
export function createReservationsState(options: ReservationsOptions, stored?: StoredReservations): ReservationsState {
  return {
    options,
    resources: new Map(),
    reservations: new ReservationRecords(stored),
    endedIds: new Set(),
    timers: new Heap(isDueBefore),
    timerInstants: new Map(),
    livingCount: 0,
    preparedIds: new Set(),
    nextReservationId: 1,
    wakeAt: undefined,
    startedAt: 0,
  };
}

/** The order of `timers`. */
export function isDueBefore(one: Due, other: Due): boolean {
  return one.at < other.at;
}

/**
 * When time changes a living reservation: its hold lapses, it stays unclaimed too long, or its end has come.
 *
 * @param startedAt of the manager: while it was down no use could be reported, so that the time unclaimed counts from
 *   then at the earliest.
 */
export function getDue(
  { status, place, holdUntil }: Pick<ReservationBrief, 'status' | 'place' | 'holdUntil'>,
  { rules: { unclaimedMax } }: ResourceRecord,
  startedAt: Instant,
): Instant {
  if (status === 'held') return Math.min(holdUntil, place.end);
  if (status === 'confirmed' && unclaimedMax > 0)
    return Math.min(Math.max(place.start, startedAt) + unclaimedMax, place.end);
  return place.end;
}
