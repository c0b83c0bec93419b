import type { QueuedRequest } from '../../messages/index.ts';
import type { FreeTime } from '../../profile/index.ts';
import type { Duration, Instant } from '../../shared/index.ts';
import type { RequestFacts } from '../heuristic.ts';
import { listedRank } from '../own-rank.ts';
import { readQueue } from '../read-queue.ts';
import { Skyline } from './skyline.ts';

/** What a queue is expected to do, by its listing. Times are counted from now. */
export interface Foresight {
  /** With the own requests in it. */
  readonly skyline: Skyline;
  /** Where requests that were promised nothing are thought to start, by what the listing calls them. */
  readonly places: ReadonlyMap<string, Duration>;
  /** Whether nobody passes anybody. */
  readonly isInTurn: boolean;
}

/** Whoever came less than this ago may not have been looked at by the manager yet. */
const settledMin: Duration = 5 * 60_000;

/**
 * What is free when: as backfilling would have it, or as first come, first served would where that is what the queue looks like.
 *
 * It does where nobody was promised a start and somebody waits who could start now and hold nobody up that came first: backfilling would have started him. Cost: that of `readQueue`, twice where nobody was
 * promised anything.
 */
export function foresee(facts: RequestFacts): Foresight {
  const { now, listing, queue } = facts;
  const waiting = queue === undefined ? waitingIn(facts) : [];
  if (waiting.length > 0 && !waiting.some(({ startsAt }) => startsAt > 0)) {
    const { free } = readQueue({ ...facts, listing: { ...listing, requests: listing.requests.filter(({ status }) => status !== 'queued') } });
    if (isPassedOver(free, waiting, now)) return placeInTurn(free, waiting, now);
  }
  const places = new Map<string, Duration>();
  const { free } = readQueue(facts, { onPlaced: ({ managerRequestId }, startsAt) => { places.set(managerRequestId, startsAt - now); } });
  return { skyline: Skyline.of(free), places, isInTurn: false };
}

/** Who waits, in the order of arrival. */
function waitingIn({ limits, listing }: RequestFacts): QueuedRequest[] {
  const waiting = listing.requests.filter(({ status, reservationId, width }) => status === 'queued' && reservationId === undefined && width <= limits.processors);
  return waiting.sort((one, other) => listedRank(one) - listedRank(other));
}

/** Whether one who waits could start now without holding up the first of them, as EASY backfilling has it. @param free what those that run leave. */
function isPassedOver(free: FreeTime, waiting: readonly QueuedRequest[], now: Instant): boolean {
  const [head] = waiting as [QueuedRequest];
  const shadow = free.findEarliest(head.width, head.walltime, free.first);
  const [freeNow, extra] = [free.freeOf(free.first), free.freeOf(shadow) - head.width];
  const couldStart = ({ width, walltime }: QueuedRequest): boolean => width <= freeNow && (width <= extra || now + walltime <= free.startOf(shadow));
  return waiting.some((one) => now - one.submittedAt >= settledMin && (one === head ? shadow === free.first : couldStart(one)));
}

/** Nobody starts before those who came earlier, and nothing that is asked for now before the last of them. Writes into what is free. */
function placeInTurn(free: FreeTime, waiting: readonly QueuedRequest[], now: Instant): Foresight {
  const places = new Map<string, Duration>();
  let last = free.first;
  for (const { managerRequestId, width, walltime } of waiting) {
    last = free.findEarliest(width, walltime, last);
    free.cut(last, width, walltime);
    places.set(managerRequestId, free.startOf(last) - now);
  }
  return { skyline: Skyline.of(free).without(0, free.startOf(last) - now, Infinity), places, isInTurn: true };
}
