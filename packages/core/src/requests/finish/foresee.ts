import type { QueuedRequest } from '../../messages/index.ts';
import type { Duration } from '../../shared/index.ts';
import type { RequestFacts } from '../heuristic.ts';
import { listedRank } from '../own-rank.ts';
import { readQueue } from '../read-queue.ts';
import { Skyline } from './skyline.ts';

/** What a queue is expected to do. Times are counted from now. */
export interface Foresight {
  /** With the own requests in it. */
  readonly skyline: Skyline;
  /** Where requests that were promised nothing are thought to start, by what the listing calls them. */
  readonly places: ReadonlyMap<string, Duration>;
  /** Whether the queue seems not to backfill; then nothing is free before its last request starts. */
  readonly isInTurn: boolean;
}

/** The manager may not have considered requests that came less than this before the listing. */
const settledMin: Duration = 5 * 60_000;

/**
 * Free processors over time: as under backfilling, or as under first come, first served if the queue looks like that.
 * Cost: that of `readQueue`, twice in the second case.
 */
export function foresee(facts: RequestFacts): Foresight {
  const places = new Map<string, Duration>();
  const { free } = readQueue(facts, {
    onPlaced: ({ managerRequestId }, startsAt) => {
      places.set(managerRequestId, startsAt - facts.now);
    },
  });
  return isInTurn(facts, places) ? placeInTurn(facts) : { skyline: Skyline.of(free), places, isInTurn: false };
}

/**
 * Whether the queue seems not to backfill: a request without a promise could start now without delaying an earlier one,
 * still waits, and no running request has passed a waiting one. Backfilling, however careful, would have started it.
 *
 * @param places as under backfilling that delays no request.
 */
function isInTurn(facts: RequestFacts, places: ReadonlyMap<string, Duration>): boolean {
  const { listing, queue, listingState = 'complete' } = facts;
  if (queue !== undefined || listingState !== 'complete') return false;
  const waiting = waitingIn(facts);
  if (waiting.some(({ startsAt }) => startsAt > 0)) return false;
  const placeOf = ({ managerRequestId }: QueuedRequest): Duration => places.get(managerRequestId) ?? 0;
  const first = waiting.findIndex((one) => placeOf(one) > 0);
  const head = waiting[first];
  if (head === undefined) return false;
  const isPassedOver = waiting.some(
    (one, index) => index > first && placeOf(one) === 0 && listing.at - one.submittedAt >= settledMin,
  );
  return (
    isPassedOver &&
    !listing.requests.some(
      (one) => one.status === 'running' && one.reservationId === undefined && one.submittedAt > head.submittedAt,
    )
  );
}

/** The requests that compete for processors, in the order of the queue. */
function waitingIn({ limits, listing }: RequestFacts): QueuedRequest[] {
  const waiting = listing.requests.filter(
    ({ status, reservationId, width, isHeldBack }) =>
      status === 'queued' && reservationId === undefined && isHeldBack === undefined && width <= limits.processors,
  );
  return waiting.sort((one, other) => listedRank(one) - listedRank(other));
}

/** No request starts before earlier ones, and a request that is submitted now not before the last of them. */
function placeInTurn(facts: RequestFacts): Foresight {
  const { now, listing } = facts;
  const { free } = readQueue({
    ...facts,
    listing: { ...listing, requests: listing.requests.filter(({ status }) => status !== 'queued') },
  });
  const places = new Map<string, Duration>();
  let last = free.first;
  for (const { managerRequestId, width, walltime } of waitingIn(facts)) {
    last = free.findEarliest(width, walltime, last);
    free.cut(last, width, walltime);
    places.set(managerRequestId, free.startOf(last) - now);
  }
  return { skyline: Skyline.of(free).without(0, free.startOf(last) - now, Infinity), places, isInTurn: true };
}
