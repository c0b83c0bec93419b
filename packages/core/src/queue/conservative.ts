import type { Instant, ProcessorCount } from '../shared/index.ts';
import type { Place, QueuePolicy } from './queue-policy.ts';
import type { PlannedRequest } from './request-list.ts';
import type { RequestPlan } from './request-plan.ts';

/** What is done with the time that an early end frees. */
export type Compression = 'start-now' | 'reinsert';

/**
 * Conservative backfilling: each request is promised, when it arrives, the first hole in which it fits.
 *
 * `start-now`: after an end, the first waiting request that can start now for its whole walltime without delaying another is
 * placed now, until none can; the others keep their promise. Cost of an end: O(starts x waiting x segments).
 * `reinsert`: after an end, in the order of arrival, each waiting request is taken out and put into its earliest hole given
 * all the others, never later than it was. Cost of an end: O(waiting x segments).
 *
 * @source costa2005, section 2.2.1.
 * Departs from the source: it has `start-now` alone.
 */
export function conservativeBackfilling(compression: Compression): QueuePolicy {
  const compress = compression === 'start-now' ? startNow : reinsert;
  return {
    name: `conservative ${compression}`,
    promises: true,
    onSubmitted(plan, id, now, place) {
      const startsAt = plan.findEarliestPlace(plan.getWaiting(id), now);
      // Wider than what there is at present.
      if (startsAt < Infinity) place(id, startsAt);
    },
    onEnded: compress,
  };
}

function startNow(plan: RequestPlan, now: Instant, place: Place): void {
  const freeUntil = (width: ProcessorCount): Instant => plan.profile.endOfFree(width, now);
  const findNext = (): PlannedRequest | undefined => plan.findStartable(now, plan.profile.freeAt(now), freeUntil);
  // From the head again after each: a request that moved to now vacates a later place, and that may be what another lacked.
  for (let next = findNext(); next !== undefined; next = findNext()) place(next.id, now);
}

function reinsert(plan: RequestPlan, now: Instant, place: Place): void {
  for (let request = plan.waiting.first; request !== undefined; request = request.next) {
    if (request.startsAt !== undefined && request.startsAt <= now) continue;
    const startsAt = plan.findEarliestPlace(request, now);
    if (startsAt !== request.startsAt && startsAt < Infinity) place(request.id, startsAt);
  }
}
