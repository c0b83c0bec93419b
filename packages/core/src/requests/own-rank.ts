import type { QueuedRequest, QueueListing } from '../messages/index.ts';
import { bucRank } from '../queue/index.ts';
import type { Duration, Instant } from '../shared/index.ts';

/** When a listed request counts as submitted: of two that wait the one with the earlier goes first. */
export function listedRank({ rankedAt, submittedAt }: QueuedRequest): Instant {
  return rankedAt ?? submittedAt;
}

/**
 * When an own request would count as submitted, were it submitted now; Infinity, behind everybody, in the order of
 * arrival. @param walltime more than 0.
 */
export function ownRank({ ranking }: QueueListing, walltime: Duration, now: Instant): Instant {
  return ranking === undefined ? Infinity : bucRank(ranking, { score: ranking.score, walltime, submittedAt: now });
}
