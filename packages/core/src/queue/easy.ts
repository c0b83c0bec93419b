import type { Instant } from '../shared/index.ts';
import { startFromHead } from './fcfs.ts';
import type { Place, QueuePolicy } from './queue-policy.ts';
import type { RequestPlan } from './request-plan.ts';

/**
 * EASY backfilling: only the head of the queue holds a reservation.
 *
 * The head starts while it fits. Then shadow is the earliest instant when the head's processors are free by requested times, and
 * extra what is free then beyond them; the others, in the order of arrival, start now if they end by the shadow or use no more
 * than extra, which they then reduce. Cost of an event: O(waiting x segments).
 *
 * @source costa2005, section 2.2.1, as settled for this project.
 */
export const easyBackfilling: QueuePolicy = {
  name: 'easy',
  promises: false,
  onSubmitted(plan, _id, now, place) { pass(plan, now, place); },
  onEnded: pass,
};

function pass(plan: RequestPlan, now: Instant, place: Place): void {
  const headId = startFromHead(plan, now, place);
  if (headId === undefined) return;
  const head = plan.getWaiting(headId);
  const shadow = plan.profile.earliestFit(head.width, head.walltime, now);
  let extra = plan.profile.freeAt(shadow) - head.width;
  for (const { id, width, walltime, startsAt } of [...plan.waiting.values()]) {
    if (startsAt !== undefined || id === headId || plan.profile.freeAt(now) < width) continue;
    if (now + walltime > shadow) {
      if (width > extra) continue;
      extra -= width;
    }
    place(id, now);
  }
}
