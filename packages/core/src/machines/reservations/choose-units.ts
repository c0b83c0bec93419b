import type { Instant } from '../../shared/index.ts';
import type { ResourceEntry } from './state.ts';

/**
 * Chooses units of which not one is named, so that few reservations are in the way: those with the fewest, of these the last ones. Ascending.
 *
 * Units that are away in the window already are not chosen, so there may be fewer than asked for. Cost: O(reservations in the window x their units).
 */
export function chooseUnits({ resource, calendar, outages }: ResourceEntry, amount: number, { from, until }: { readonly from: Instant; readonly until: Instant }): number[] {
  const isAway = new Array<boolean>(resource.total).fill(false);
  for (const { startsAt, endsAt, units } of outages.values()) {
    if (startsAt < until && (endsAt === 0 || endsAt > from)) for (const unit of units) isAway[unit] = true;
  }
  const loads = new Array<number>(resource.total).fill(0);
  for (const { resources } of calendar.reservations(from, until)) for (const unit of resources) loads[unit] = (loads[unit] ?? 0) + 1;
  const there = loads.map((load, unit) => ({ load, unit })).filter(({ unit }) => isAway[unit] !== true);
  return there.sort((one, other) => one.load - other.load || other.unit - one.unit).slice(0, amount).map(({ unit }) => unit).sort((one, other) => one - other);
}
