import type { Instant } from '../shared/index.ts';
import type { Occupancy, Want } from './occupancy.ts';
import type { PlacementRule } from './resource.ts';

/** Idle periods that are compared for one request at most. */
export const periodsMax = 64;

/**
 * When a want starts by a rule; Infinity when it has no place.
 *
 * Of a shared resource, an idle period of a want is a longest stretch in which its amount is free. It starts as early
 * as it can in one of the first `periodsMax` that hold it within its limits: the first (first-fit, which is SUVS), the
 * one with the shortest idleness left before it (min-LIP) or after it (min-TIP), the earlier of equals. Of counted
 * resources it starts at the earliest, and the rule chooses among resources.
 * Cost: O(log n) for each slot that the search stops at.
 * @source Castillo et al. 2007, as kunrath2008, 2.2, describes it. Departs from the source: which has processors only,
 *   no shares of one.
 */
export function placeByRule(all: Occupancy, want: Want, rule: PlacementRule): Instant {
  const first = all.earliestFit(want);
  if (rule === 'first-fit' || all.idle !== undefined || first === Infinity) return first;
  let best = first;
  let least = Infinity;
  // Nothing is shorter than nothing.
  for (let start = first, count = 0; count < periodsMax && start < Infinity && least > 0; count += 1) {
    const periodEnd = all.startOfExcess(want, start);
    const left = rule === 'min-lip' ? start - startOfPeriod(all, want, start) : periodEnd - (start + want.duration);
    if (left < least) {
      best = start;
      least = left;
    }
    start = all.earliestFit({ ...want, from: periodEnd });
  }
  return best;
}

/** The idle period at the earliest start may have begun before it; all others begin where they are found. */
function startOfPeriod(all: Occupancy, want: Want, start: Instant): Instant {
  return start > want.from ? start : all.endOfExcess(want, -Infinity, start);
}
