import { Heap } from '../../shared/index.ts';
import { sortedBy } from '../../shared/sort-order.ts';
import { getDue, isDueBefore, isLiving, type Due, type ReservationsState } from './state.ts';

/**
 * The timers of living reservations and outages, one for each. Cost: O(n), because whole numbers are sorted by digits.
 */
export function listTimers(state: ReservationsState): Heap<Due> {
  const timers: Due[] = [];
  for (const { resource, outages } of state.resources.values()) {
    for (const { id, endsAt } of outages.values())
      if (endsAt !== 0) timers.push({ at: endsAt, kind: 'outage', resourceId: resource.id, outageId: id });
  }
  for (const reservation of state.reservations.briefs()) {
    const entry = state.resources.get(reservation.resourceId);
    if (entry !== undefined && isLiving(reservation))
      timers.push({
        at: getDue(reservation, entry.resource, state.startedAt),
        kind: 'reservation',
        id: reservation.place.id,
      });
  }
  // What is sorted is a heap.
  return new Heap(
    isDueBefore,
    sortedBy(timers, ({ at }) => at),
  );
}
