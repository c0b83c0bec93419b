import type { QueuedRequest } from '../messages/index.ts';
import { FreeTime } from '../profile/index.ts';
import type { Instant } from '../shared/index.ts';
import type { RequestFacts } from './heuristic.ts';
import { HeldTime } from './held-time.ts';
import { placeInOrder, type OnPlaced } from './place-in-order.ts';

/** What is read of the queue. */
export type QueueFacts = Pick<RequestFacts, 'now' | 'limits' | 'listing' | 'queue' | 'unlistedTime'>;

/** How the queue is read. */
export interface QueueReading {
  /** Waiting requests that would give way to one with this rank are left out; left out for none. */
  readonly rank?: Instant;
  /** Called with the place of each request without a promise; not called if the profile is given. */
  readonly onPlaced?: OnPlaced | undefined;
}

/** What a decision needs of the queue. */
export interface QueueAhead {
  /** What running and waiting requests leave free. */
  readonly free: FreeTime;
  /** |R^w|. */
  readonly waitingCount: number;
}

/**
 * Reads the queue: running requests hold their processors until startsAt + walltime, waiting ones from their promised
 * start; waiting ones without a promise get, in the order of the queue, the earliest place that the others leave.
 *
 * Reservations hold what they set aside, and requests inside them no more than that.
 *
 * A request that should have ended and still runs is expected to end within a grain. Processors that are neither free
 * nor held by a running request are assumed to be occupied for the longest walltime, as if by an unlisted request.
 * Cost: O(n log n) for n listed requests; those without a promise cost a search for a place each.
 *
 * @param reading which requests count, and the callback for their places.
 */
export function readQueue(facts: QueueFacts, { rank = Infinity, onPlaced }: QueueReading = {}): QueueAhead {
  const { now, limits, listing, queue } = facts;
  if (queue !== undefined) return { free: FreeTime.ofProfile(queue.profile, now), waitingCount: queue.waitingCount };
  const waiting = listing.requests.filter(
    ({ status, reservationId, rankedAt = -Infinity }) =>
      status === 'queued' && reservationId === undefined && rankedAt <= rank,
  );
  const held = holdRunning(facts);
  for (const { count, startsAt, endsAt } of listing.reservations ?? [])
    if (endsAt > now) held.hold(count, Math.max(now, startsAt), endsAt);
  const unpromised: QueuedRequest[] = [];
  for (const request of waiting) {
    const { width, startsAt, walltime } = request;
    if (startsAt > 0) held.hold(width, startsAt, Math.max(startsAt, now) + walltime);
    else if (width <= limits.processors) unpromised.push(request);
  }
  const free = held.leave(limits.processors);
  placeInOrder(free, unpromised, onPlaced);
  // One request that begins where another of its width ends leaves no breakpoint in a profile; nor may it here, since
  // holes begin there.
  free.joinEqual();
  return { free, waitingCount: waiting.length };
}

function holdRunning({ now, limits, listing, unlistedTime = limits.walltimeMax }: QueueFacts): HeldTime {
  const held = new HeldTime(now, listing.requests.length + (listing.reservations?.length ?? 0) + 1);
  let unlisted = limits.processors - listing.processorsFree;
  for (const { status, width, startsAt, walltime, reservationId } of listing.requests) {
    if (status !== 'running') continue;
    unlisted -= width;
    if (reservationId !== undefined) continue; // Of what its reservation sets aside.
    const end = startsAt + walltime;
    held.hold(width, now, end > now ? end : now + limits.walltimeGranularity);
  }
  if (unlisted > 0) held.hold(unlisted, now, now + unlistedTime);
  return held;
}
