import type { Instant } from '../shared/index.ts';
import type { Place, QueuePlan, QueuePolicy } from './queue-policy.ts';
import type { PlannedRequest } from './request-list.ts';

/** What is done with the time that an early end frees. */
export type Compression = 'start-now' | 'reinsert';

/**
 * Conservative backfilling: each request is promised, when it arrives, the first hole in which it fits.
 *
 * In an order of ranks, a request that arrives and goes before others gets the first hole that those ahead of it leave:
 * if that is better than the first hole that all leave, those behind it that have not started get new places, in the
 * order, each the first hole. So a place is delayed only by a later request that goes before; ends only bring it
 * forward. Cost of such an arrival: O(behind x segments).
 *
 * `start-now`: after an end, the first waiting request that can start now for its whole walltime without delaying
 * another is placed now, until none can; the others keep their promise. Cost of an end: O(starts x waiting x segments).
 * `reinsert`: after an end, in the order of arrival, each waiting request is taken out and put into its earliest hole
 * given all the others, never later than it was. Cost of an end: O(waiting x segments).
 *
 * @source costa2005, section 2.2.1.
 * Departs from the source: it has only `start-now`.
 */
export function conservativeBackfilling(compression: Compression): QueuePolicy {
  const compress = compression === 'start-now' ? startNow : reinsert;
  return {
    name: `conservative ${compression}`,
    promises: true,
    onSubmitted(plan, id, now, place) {
      const request = plan.getWaiting(id);
      const resourceStatus = plan.findEarliestPlace(request, now);
      const startsAt = request.next === undefined ? resourceStatus : plan.findPlaceAhead(request, now);
      const moved = startsAt < resourceStatus ? placedBehind(request, now) : [];
      for (const behind of moved) place(behind.id, undefined);
      placeFirst(plan, request, now, place);
      for (const behind of moved) placeFirst(plan, behind, now, place);
    },
    onEnded: compress,
  };
}

/** In the order, those behind a request whose place is still to come. */
function placedBehind({ next }: PlannedRequest, now: Instant): PlannedRequest[] {
  const behind: PlannedRequest[] = [];
  for (let request = next; request !== undefined; request = request.next)
    if ((request.startsAt ?? now) > now) behind.push(request);
  return behind;
}

/** Places a request in its first hole; a request that is wider than the present capacity has none. */
function placeFirst(plan: QueuePlan, request: PlannedRequest, now: Instant, place: Place): void {
  const startsAt = plan.findEarliestPlace(request, now);
  if (startsAt < Infinity) place(request.id, startsAt);
}

function startNow(plan: QueuePlan, now: Instant, place: Place): void {
  const findNext = (): PlannedRequest | undefined => plan.findBackfill(now, false);
  // From the head again after each: a request that moved to now vacates a later place, and that may be what another
  // lacked.
  for (let next = findNext(); next !== undefined; next = findNext()) place(next.id, now);
}

function reinsert(plan: QueuePlan, now: Instant, place: Place): void {
  for (let request = plan.waiting.first; request !== undefined; request = request.next) {
    if (request.startsAt !== undefined && request.startsAt <= now) continue;
    const startsAt = plan.findEarliestPlace(request, now);
    if (startsAt !== request.startsAt && startsAt < Infinity) place(request.id, startsAt);
  }
}
