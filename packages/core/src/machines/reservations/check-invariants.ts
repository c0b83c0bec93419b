import { invariant, type Instant, type UserId } from '../../shared/index.ts';
import { isSamePlace, measureWork } from './apply.ts';
import { getDue, isLiving, isPrepared, type ReservationsState, type ResourceEntry } from './state.ts';

/** What a user has reserved of a resource. */
interface Living {
  readonly count: number;
  readonly work: number;
}

/** @throws {InvariantError} when the state contradicts itself. Cost: O(reservations). */
export function checkInvariants(state: ReservationsState): void {
  const counts = new Map<ResourceEntry, Map<UserId, Living>>();
  let living = 0;
  for (const reservation of state.reservations.values()) {
    const { place, resourceId, status, clientRequestId, holdUntil, endedAt } = reservation;
    const entry = state.resources.get(resourceId);
    invariant(entry !== undefined, () => `reservation ${place.id} is of ${resourceId}, which is not known`);
    invariant(
      place.id < state.nextReservationId,
      () => `reservation ${place.id} is beyond the next, ${state.nextReservationId}`,
    );
    invariant(
      (status === 'held') === (holdUntil !== 0),
      () => `reservation ${place.id} is ${status} and held until ${holdUntil}`,
    );
    invariant(
      isLiving(reservation) === (endedAt === 0),
      () => `reservation ${place.id} is ${status} and ended at ${endedAt}`,
    );
    invariant(
      isLiving(reservation) !== state.endedIds.has(place.id),
      () => `reservation ${place.id} is ${status} and filed as if it were not`,
    );
    invariant(
      clientRequestId === '' || state.reservations.findByKey(place.userId, clientRequestId)?.place.id === place.id,
      () => `reservation ${place.id} is not found by its key`,
    );
    invariant(
      isPrepared(reservation) === state.preparedIds.has(place.id),
      () => `reservation ${place.id} is ${status}, and filed as if it were not so prepared`,
    );
    const placed = entry.calendar.get(place.id);
    invariant(
      isLiving(reservation) === (placed !== undefined),
      () => `reservation ${place.id} is ${status}, and its calendar thinks otherwise`,
    );
    if (placed === undefined) continue;
    invariant(isSamePlace(placed, place), () => `reservation ${place.id} is elsewhere on its calendar`);
    invariant(
      (placed.isHeld === true) === (status === 'held'),
      () => `reservation ${place.id} is ${status}, and its calendar holds it otherwise`,
    );
    living += 1;
    const users = counts.get(entry) ?? new Map<UserId, Living>();
    const { count, work } = users.get(place.userId) ?? { count: 0, work: 0 };
    counts.set(entry, users.set(place.userId, { count: count + 1, work: work + measureWork(reservation) }));
  }
  invariant(living === state.livingCount, () => `${living} reservations live, ${state.livingCount} counted`);
  for (const entry of state.resources.values()) checkResource(entry, counts.get(entry) ?? new Map());
  checkTimers(state);
}

function checkResource(
  { resource, calendar, outages, livingByUser, workByUser, livingCount, nextOutageId }: ResourceEntry,
  counts: ReadonlyMap<UserId, Living>,
): void {
  calendar.checkInvariants();
  invariant(
    calendar.count === livingCount,
    () => `${resource.id} has ${calendar.count} reservations on its calendar, ${livingCount} counted`,
  );
  invariant(counts.size === livingByUser.size, () => `${resource.id} counts a user without reservations`);
  for (const [userId, { count, work }] of counts) {
    invariant(livingByUser.get(userId) === count, () => `${userId} has ${count} reservations of ${resource.id}`);
    // Sums of large numbers are rounded.
    invariant(
      Math.abs((workByUser.get(userId) ?? 0) - work) <= 1e-6 * work,
      () => `${userId} has ${work} of ${resource.id}, ${workByUser.get(userId) ?? 0} counted`,
    );
  }
  invariant(workByUser.size === livingByUser.size, () => `${resource.id} counts work of a user without reservations`);
  const blocks = calendar.blocks();
  invariant(
    blocks.length === outages.size && blocks.every(({ id }) => outages.has(id)),
    () => `${resource.id} has ${blocks.length} blocks and ${outages.size} outages`,
  );
  for (const { id, units, amount } of outages.values()) {
    invariant(id < nextOutageId, () => `outage ${id} is beyond the next, ${nextOutageId}`);
    invariant(
      resource.kind === 'shared' || new Set(units).size === amount,
      () => `outage ${id} takes ${amount} of ${resource.id} away, and names ${units.length}`,
    );
  }
}

/** Time changes nothing unheard. */
function checkTimers({ reservations, resources, timers, timerInstants, startedAt }: ReservationsState): void {
  const looks = new Map<number, number[]>();
  for (const due of timers.elements)
    if (due.kind === 'reservation') looks.set(due.id, [...(looks.get(due.id) ?? []), due.at]);
  for (const reservation of reservations.values()) {
    const { id } = reservation.place;
    const resource = resources.get(reservation.resourceId)?.resource;
    invariant(
      isLiving(reservation) || !timerInstants.has(id),
      () => `reservation ${id} is ${reservation.status}, and to be looked at`,
    );
    if (resource !== undefined && isLiving(reservation))
      checkLooks(id, getDue(reservation, resource, startedAt), {
        looks: looks.get(id) ?? [],
        counted: timerInstants.get(id),
      });
  }
}

/** One is enough, and if there are several it is known which of them counts. */
function checkLooks(
  id: number,
  at: Instant,
  { looks, counted }: { readonly looks: readonly Instant[]; readonly counted: Instant | undefined },
): void {
  invariant(
    counted !== undefined || looks.length <= 1,
    () => `reservation ${id} is looked at ${looks.length} times, and none of them counts`,
  );
  invariant(
    counted === undefined || looks.includes(counted),
    () => `nobody looks at reservation ${id} at ${counted ?? 0}, as was noted`,
  );
  invariant((counted ?? looks[0] ?? Infinity) <= at, () => `nobody looks at reservation ${id} at ${at}`);
}
