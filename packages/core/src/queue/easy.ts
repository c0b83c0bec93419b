import type { Instant, ProcessorCount } from '../shared/index.ts';
import { startFromHead } from './fcfs.ts';
import type { Place, QueuePlan, QueuePolicy } from './queue-policy.ts';
import type { PlannedRequest } from './request-list.ts';

/**
 * EASY backfilling: only the head of the queue holds a reservation.
 *
 * The head starts while it fits. Then shadow is the earliest instant when the head's processors are free by requested
 * times, and
 * extra what is free then beyond them; the others, in the order of arrival, start now if they end by the shadow or use
 * no more
 * than extra, which they then reduce. Each event is handled by itself: of several ends at one instant, the processors
 * of those that were
 * not handled yet are not free, even if they were requested until that instant only. Cost of an event: O((starts + 1) x
 * (segments + widths x log waiting)), where segments are those of running requests.
 *
 * @source costa2005, section 2.2.1, as settled for this project.
 */
export const easyBackfilling: QueuePolicy = {
  name: 'easy',
  promises: false,
  onSubmitted(plan, _id, now, place) {
    pass(plan, now, place);
  },
  onEnded: pass,
};

function pass(plan: QueuePlan, now: Instant, place: Place): void {
  const head = startFromHead(plan, now, place);
  if (head === undefined) return;
  const shadow = plan.findEarliestPlace(head, now);
  if (plan.kind === 'nodes' || plan.reservationBlocks.size > 0)
    return plan.whileHeld(head, shadow, () => {
      fillAround(plan, now, place);
    });
  let extra = plan.profile.freeAt(shadow) - head.width;
  // A head that is wider than the present capacity delays no other request: its shadow never comes.
  const freeUntil = (width: ProcessorCount): Instant => (width <= extra ? Infinity : shadow);
  // A request that was skipped once stays skipped: free and extra processors only shrink in a pass. The head is wider
  // than the free ones.
  const findNext = (): PlannedRequest | undefined => plan.findStartable(now, plan.countUnheld(now), freeUntil);
  for (let next = findNext(); next !== undefined; next = findNext()) {
    if (now + next.walltime > shadow) extra -= next.width;
    place(next.id, now);
  }
}

/**
 * With reservation blocks no single number is the extra: a request that ends before a block may use its processors.
 * Nor does one on nodes, where what is extra is so of each resource of each node.
 */
function fillAround(plan: QueuePlan, now: Instant, place: Place): void {
  const findNext = (): PlannedRequest | undefined => plan.findBackfill(now, true);
  for (let next = findNext(); next !== undefined; next = findNext()) place(next.id, now);
}
