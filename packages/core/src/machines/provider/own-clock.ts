import type { QueuedRequest, QueueListing } from '../../messages/index.ts';
import { ownInstant, type Duration } from '../../shared/index.ts';
import type { Turn } from './turn.ts';

/** A listing that is this much older than those before was made by a clock that was set back. */
const lagMax: Duration = 60_000;

/**
 * A listing with its instants by our own clock: a front-end's and a manager's may differ, and walltimes end by theirs.
 *
 * Listings come late and never early, so the least delay seen gives the best estimate of the other clock.
 */
export function inOwnClock({ state, now }: Turn, listing: QueueListing): QueueListing {
  const seen = listing.at - now;
  const known = state.managerOffset ?? seen;
  const offset = seen < known - lagMax ? seen : Math.max(known, seen);
  state.managerOffset = offset;
  if (ownInstant(now, offset) === now) return listing;
  return {
    ...listing,
    at: ownInstant(listing.at, offset),
    requests: listing.requests.map((request) => requestInOwnClock(request, offset)),
  };
}

function requestInOwnClock(request: QueuedRequest, offset: Duration): QueuedRequest {
  const { submittedAt, startsAt, endedAt, rankedAt } = request;
  return {
    ...request,
    ...(rankedAt === undefined ? {} : { rankedAt: ownInstant(rankedAt, offset) }),
    submittedAt: ownInstant(submittedAt, offset),
    startsAt: ownInstant(startsAt, offset),
    endedAt: ownInstant(endedAt, offset),
  };
}
