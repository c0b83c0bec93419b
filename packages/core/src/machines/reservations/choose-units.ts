import type { Instant } from '../../shared/index.ts';
import type { ResourceEntry } from './state.ts';

/**
 * Chooses units when none is named, so that few reservations are in the way: those with the fewest, of these the last
 * ones. Ascending.
 *
 * Units that are away in a part of the window come after all others, and failed ones last: either of two outages takes
 * a shared unit alone, and a unit that comes back from one of them still belongs to the other. So there are always
 * enough, unless the resource has fewer units than that.
 * Cost: O(reservations in the window x their units).
 */
export function chooseUnits(
  entry: ResourceEntry,
  amount: number,
  window: { readonly from: Instant; readonly until: Instant },
): number[] {
  const {
    resource: { total },
    calendar,
  } = entry;
  const absences = findAbsences(entry, window);
  const loads = new Array<number>(total).fill(0);
  for (const { resources } of calendar.reservations(window.from, window.until))
    for (const unit of resources) loads[unit] = (loads[unit] ?? 0) + 1;
  const choices = loads.map((load, unit) => ({ load, unit, absence: absences[unit] ?? 0 }));
  choices.sort((one, other) => one.absence - other.absence || one.load - other.load || other.unit - one.unit);
  return choices
    .slice(0, amount)
    .map(({ unit }) => unit)
    .sort((one, other) => one - other);
}

/** By unit: 2 if it has failed, 1 if it is away in a part of the window, else 0. */
function findAbsences(
  { resource, outages }: ResourceEntry,
  { from, until }: { readonly from: Instant; readonly until: Instant },
): number[] {
  const absences = new Array<number>(resource.total).fill(0);
  for (const { kind, startsAt, endsAt, units } of outages.values()) {
    if (startsAt >= until || (endsAt !== 0 && endsAt <= from)) continue;
    for (const unit of units) absences[unit] = Math.max(absences[unit] ?? 0, kind === 'failure' ? 2 : 1);
  }
  return absences;
}
