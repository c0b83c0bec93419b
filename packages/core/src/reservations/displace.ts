import type { Instant } from '../shared/index.ts';
import type { Want } from './occupancy.ts';
import { instantMax, type Moved, type PlacedReservation } from './request.ts';
import type { PlacedReservations } from './placed-reservations.ts';
import { getOffered } from './resource.ts';

/** A reservation of which only the place is open. */
export type Unplaced = Omit<PlacedReservation, 'start' | 'end' | 'resources'>;

/** What came of making way: the new reservation is on the calendar, or nothing has changed. */
export type Displaced =
  | { readonly kind: 'placed'; readonly reservation: PlacedReservation; readonly moved: readonly Moved[] }
  | { readonly kind: 'refused'; readonly movesWanted: number };

/**
 * Places a reservation although others of low priority are in the way, and moves those, each to its earliest place.
 *
 * The place is the first that would be free without those of low priority. Which of these are in the way there is the
 * resource's `inTheWay`: `covered` is all that overlap the place, as the seed has it; `needed` is those that hold the
 * resources chosen (those free of all are chosen first), then, the last placed (highest id) first, those where the
 * capacity is exceeded, except those that fit together with the new one after all. They are placed again in order of
 * their former starts, then ids. A reservation that has begun does not move.
 * @source kunrath2008, 4.2.4, SUVS-P. Departs from the source: at most `movesMax` are moved, and `needed` is ours.
 */
export function displace(book: PlacedReservations, unplaced: Unplaced, want: Want, now: Instant): Displaced {
  const { firm, resource } = book;
  book.settleBegun(now);
  const start = firm?.earliestFit(want) ?? Infinity;
  if (start === Infinity) return { kind: 'refused', movesWanted: 0 };
  const end = start + want.duration;
  const resources = chooseWithin(book, want.amount, start, end);
  const inTheWay =
    resource.inTheWay === 'covered' ? book.movableWithin(start, end) : findNeeded(book, want, start, resources);
  if (inTheWay.length > resource.movesMax) return { kind: 'refused', movesWanted: inTheWay.length };
  for (const { id } of inTheWay) book.remove(id);
  // All that was in the way is gone now, so that the choice can heed the rule of placement.
  const freed =
    resource.inTheWay === 'covered' ? book.all.choose(want.amount, start, end, resource.placement) : resources;
  const reservation = { ...unplaced, start, end, resources: freed };
  book.add(reservation);
  const moved = placeAgain(book, inTheWay, now);
  if (moved !== undefined)
    return { kind: 'placed', reservation, moved: moved.filter(({ before, after }) => hasMoved(before, after)) };
  book.remove(reservation.id);
  for (const each of inTheWay) book.add(each);
  return { kind: 'refused', movesWanted: inTheWay.length };
}

/** Resources that nothing firm holds: first those that nothing holds at all. */
function chooseWithin(
  { all, firm, resource }: PlacedReservations,
  count: number,
  start: Instant,
  end: Instant,
): number[] {
  if (all.idle === undefined) return [];
  const free = all.idle.choose(count, start, end, resource.placement);
  if (free.length === count) return free;
  const more = (firm?.idle?.choose(Infinity, start, end, resource.placement) ?? []).filter(
    (each) => !free.includes(each),
  );
  return [...free, ...more.slice(0, count - free.length)].sort((one, other) => one - other);
}

/** Those that must go, in order of start, then id. Changes nothing. */
function findNeeded(
  book: PlacedReservations,
  want: Want,
  start: Instant,
  resources: readonly number[],
): PlacedReservation[] {
  const end = start + want.duration;
  const { all } = book;
  const removed: PlacedReservation[] = [];
  const remove = (each: PlacedReservation): void => {
    all.remove(each);
    removed.push(each);
  };
  const movable = book.movableWithin(start, end).sort((one, other) => other.id - one.id);
  const wanted = new Set(resources);
  for (const each of movable) if (each.resources.some((resource) => wanted.has(resource))) remove(each);
  const held = new Set(removed);
  for (const each of movable) {
    const [from, until] = [Math.max(start, each.start), Math.min(end, each.end)];
    if (!held.has(each) && all.endOfExcess(want, from, until) > -Infinity) remove(each);
  }
  const needed: PlacedReservation[] = [];
  for (const each of removed.splice(0).reverse()) {
    all.add(each);
    const isNeeded = held.has(each) || all.endOfExcess(want, start, end) > -Infinity;
    if (!isNeeded) continue;
    all.remove(each);
    needed.push(each);
  }
  for (const each of needed) all.add(each);
  return needed.sort(byStart);
}

/** Places reservations at their earliest places; undefined, and none is placed, when one has none. */
function placeAgain(
  book: PlacedReservations,
  removed: readonly PlacedReservation[],
  now: Instant,
): Moved[] | undefined {
  const moved: Moved[] = [];
  for (const before of [...removed].sort(byStart)) {
    const after = findAgain(book, before, Math.max(now, before.earliestStart));
    if (after === undefined) {
      for (const { id } of moved) book.remove(id);
      return undefined;
    }
    book.add(after);
    moved.push({ id: before.id, before, after });
  }
  return moved;
}

/**
 * The earliest place of a reservation, which is off the calendar, from an instant on and within its limits; undefined
 * when there is none.
 */
export function findAgain(
  book: PlacedReservations,
  reservation: PlacedReservation,
  from: Instant,
  startMax = Infinity,
): PlacedReservation | undefined {
  const { userId, amount } = reservation;
  const latestEnd = Math.min(reservation.latestEnd ?? Infinity, instantMax);
  const duration = reservation.end - reservation.start;
  // Its owner may offer less by now, or less to one user: then nothing is a place, also where nothing is used.
  if (amount > Math.min(getOffered(book.resource), book.resource.userMax ?? Infinity)) return undefined;
  const start = book.all.earliestFit({
    userId,
    amount,
    duration,
    from,
    startMax: Math.min(startMax, latestEnd - duration),
  });
  if (start === Infinity) return undefined;
  return {
    ...reservation,
    start,
    end: start + duration,
    resources: book.all.choose(amount, start, start + duration, book.resource.placement),
  };
}

/** Making way leaves amount and limits as they were. */
function hasMoved(before: PlacedReservation, after: PlacedReservation): boolean {
  return (
    before.start !== after.start ||
    before.end !== after.end ||
    before.resources.some((resource, index) => resource !== after.resources[index])
  );
}

/** In order of start, then id. */
export function byStart(one: PlacedReservation, other: PlacedReservation): number {
  return one.start - other.start || one.id - other.id;
}
