import type { Instant } from '../shared/index.ts';
import type { Place, QueuePlan, QueuePolicy } from './queue-policy.ts';
import type { PlannedRequest } from './request-list.ts';

/**
 * First come, first served: no request passes the head of the queue. Places are given at the start only, so nothing is
 * promised.
 */
export const firstComeFirstServed: QueuePolicy = {
  name: 'fcfs',
  promises: false,
  onSubmitted(plan, _id, now, place) {
    startFromHead(plan, now, place);
  },
  onEnded(plan, now, place) {
    startFromHead(plan, now, place);
  },
};

/**
 * Places at `now` the requests at the head of the queue for as long as they fit; returns the first that does not. Cost:
 * O(starts).
 */
export function startFromHead(plan: QueuePlan, now: Instant, place: Place): PlannedRequest | undefined {
  for (let head = plan.firstUnplaced; head !== undefined; head = plan.firstUnplaced) {
    // The profile's free processors are not enough: a request whose requested end is now holds its processors until
    // that end is handled.
    if (!plan.canStart(head, now)) return head;
    place(head.id, now);
  }
  return undefined;
}
