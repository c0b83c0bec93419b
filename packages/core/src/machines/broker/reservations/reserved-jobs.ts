import {
  type JobReservation,
  type JobSpec,
  nameReservation,
  reservationKey,
  type ReservedDemand,
} from '../../../messages/index.ts';
import type { Refusal } from '../../../reasons/index.ts';
import type { ProcessorCount, UserId } from '../../../shared/index.ts';
import { countEnded } from '../jobs/end-jobs.ts';
import { isWhollyGated } from '../jobs/gates.ts';
import { isDraining, takesWork } from '../machines/takes-work.ts';
import { getAmount, findMoved, reservationNow, getWindow } from './reserved-place.ts';
import type { BrokerJob, BrokerProvider, BrokerState, OverReservation } from '../state.ts';
import { commit, type Turn, wakeBy } from '../turn.ts';
import { countRunsWanted } from '../trust/votes.ts';

/** What the widest of a job's tasks takes at least. */
function getWidest({ processors: usual, groups }: JobSpec): ProcessorCount {
  return groups.reduce((most, { processors = usual }) => Math.max(most, processors), 1);
}

/**
 * Finds what keeps a job from running inside the reservation that its spec names, by its claim and the reports of its
 * resource; undefined if nothing does.
 */
export function findReservationFault({ state, now }: Turn, userId: UserId, spec: JobSpec): Refusal | undefined {
  const { reservation, gang } = spec;
  if (reservation === undefined) return undefined;
  const processors = getWidest(spec);
  const { reservationId, userId: holder, units } = reservation;
  const { endsAt } = getWindow(state, reservation);
  if (holder !== userId)
    return {
      code: 'MUT_CLAIM_NOT_YOURS',
      fault: { code: 'claim-of-another-user', userId: holder, shownBy: userId },
    };
  if (endsAt <= now)
    return {
      code: 'MUT_CLAIM_LATE',
      fault: { code: 'job-reservation-ended', reservationId, endedMs: now - endsAt },
    };
  if (units.length === 0)
    return {
      code: 'MUT_RESERVATION_AMOUNT',
      fault: { code: 'job-reservation-is-share', reservationId },
    };
  // An agent is started for each processor of an allocation.
  if (processors > 1 && gang !== true)
    return {
      code: 'MUT_RESERVATION_EXCEEDED',
      fault: { code: 'job-reservation-single-processors', reservationId, processors },
    };
  const amount = getAmount(state, reservation);
  if (processors > amount)
    return {
      code: 'MUT_RESERVATION_EXCEEDED',
      fault: { code: 'job-reservation-too-small', reservationId, processors, reservedProcessors: amount },
    };
  const over = findOver(state, reservation);
  return over === undefined
    ? undefined
    : { code: over.code, fault: { code: 'job-reservation-unavailable', reservationId } };
}

function findOver({ overReservations }: BrokerState, reservation: JobReservation): OverReservation | undefined {
  return overReservations.size === 0 ? undefined : overReservations.get(reservationKey(nameReservation(reservation)));
}

/** Its end has come. */
const timeOver: OverReservation = { code: 'MUT_RESERVATION_OVER', reason: { code: 'reservation-time-over' } };

/**
 * Notes of each job whether its reservation is over: by the clock, or since its resource said so. Cost: O(open jobs).
 */
export function leaveReservations(turn: Turn): void {
  const { state, now } = turn;
  for (const job of state.openJobs.values()) {
    const { jobId, reservation, status } = job;
    if (reservation === undefined || job.reservationOver !== undefined || status !== 'running') continue;
    // It may have moved since its claim was signed, and then the end that this names says nothing.
    const { endsAt } = getWindow(state, reservation);
    const over = findOver(state, reservation) ?? (endsAt <= now ? timeOver : undefined);
    if (over === undefined) wakeBy(turn, endsAt);
    else commit(turn, { kind: 'ReservationLeft', jobId, ...over, waits: reservation.after === 'wait', at: now });
  }
}

/**
 * The demand inside reservations that a provider gets. Of two providers of one resource, the first that is connected
 * and takes work gets it. From one that drains, only the running replicas are in demand. Cost: O(open jobs), times the
 * replicas there for one that drains.
 */
export function reservedFor(state: BrokerState, provider: BrokerProvider): ReservedDemand[] {
  const drains = isDraining(provider);
  if (!isAsked(state, provider)) return [];
  const countProcessors = (job: BrokerJob): ProcessorCount =>
    drains ? processorsAt(provider, job) : processorsFor(state, job);
  const wanted = new Map<string, ReservedDemand>();
  for (const job of state.openJobs.values()) {
    const reservation = reservationNow(job);
    if (reservation?.resourceId !== provider.resourceId || job.status !== 'running') continue;
    const key = reservationKey(nameReservation(reservation));
    const processors = Math.min(
      getAmount(state, reservation),
      (wanted.get(key)?.processors ?? 0) + countProcessors(job),
    );
    const { after: _after, isOwn: _isOwn, ...claimed } = reservation;
    if (processors > 0) wanted.set(key, { ...claimed, ...whereMoved(state, reservation), processors });
  }
  return [...wanted.values()];
}

/**
 * Whether this provider gets the demand inside reservations of its resource. One that drains gets the demand of what
 * runs there.
 */
function isAsked(state: BrokerState, provider: BrokerProvider): boolean {
  return provider.resourceId !== '' && (isDraining(provider) || firstOf(state, provider.resourceId) === provider);
}

/** The dates for which a resource is asked where they are no longer those of the claim. */
function whereMoved(state: BrokerState, reservation: JobReservation): Partial<ReservedDemand> {
  const movedTo = findMoved(state, reservation);
  return movedTo === undefined ? {} : { ...movedTo, hasMoved: true };
}

function firstOf({ providers }: BrokerState, resourceId: string): BrokerProvider | undefined {
  for (const provider of providers.values())
    if (takesWork(provider) && provider.resourceId === resourceId) return provider;
  return undefined;
}

/** What replicas of a job hold on a provider's machines. */
function processorsAt({ machines }: BrokerProvider, job: BrokerJob): ProcessorCount {
  let held = 0;
  for (const { replicas } of machines.values())
    for (const replica of replicas.values())
      if (replica.job === job && replica.status !== 'aborting') held += replica.processors;
  return held;
}

function processorsFor(state: BrokerState, job: BrokerJob): ProcessorCount {
  // Of a workflow that may not start yet, what is behind the parked tasks does not start either.
  const behind = isWhollyGated(job) || job.held.size === job.taskCount ? (job.dependencies?.waiting.size ?? 0) : 0;
  const open = job.taskCount - countEnded(job) - job.parked.size - behind;
  const pending = Math.min(job.runningMax ?? Infinity, open + countRunsWanted(state, job));
  return pending * Math.max(job.processors, ...job.queues.map((queue) => queue.processors));
}

/** Whether the same is wanted inside the same reservations. */
export function isSameReserved(one: readonly ReservedDemand[] = [], other: readonly ReservedDemand[] = []): boolean {
  return (
    one.length === other.length &&
    one.every((want, index) =>
      (['claim', 'processors', 'startsAt', 'endsAt', 'amount'] as const).every(
        (name) => want[name] === other[index]?.[name],
      ),
    )
  );
}
