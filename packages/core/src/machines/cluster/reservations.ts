import { isSameWindow, type ReservedWindow } from '../../messages/index.ts';
import type { Instant, ProcessorCount, UserId } from '../../shared/index.ts';
import { getRequest } from './apply.ts';
import type { ClusterInput } from './inputs.ts';
import { endRequest, listPromises, replan, startRequest, reportToEnd } from './lifecycle.ts';
import type { ClusterRequest, ClusterReservation, ClusterState } from './state.ts';
import type { Turn } from './turn.ts';

/**
 * Takes the level of reservations: one that is not in it is no longer honoured, and its processors are free at once.
 *
 * Each becomes a block that requests are packed around. Running requests stay; promises to waiting ones are kept if
 * they still fit, and otherwise they get the first hole that the block leaves. Cost: O(reservations), and O(waiting x
 * segments) if a promise has to move.
 */
export function noteReservations(turn: Turn, { windows }: ClusterInput & { kind: 'ReservationsReported' }): void {
  const { reservations, plan } = turn.state;
  if (plan.kind === 'nodes') return;
  const reported = new Map(
    windows.filter(({ endsAt }) => endsAt > turn.now).map((window) => [window.reservationId, window]),
  );
  changeReservations(
    turn,
    [...reservations.keys()].filter((id) => !reported.has(id)),
    [...reported.values()],
  );
}

/** Adds a reservation whose claim was shown before the reservation manager reported it; a known one stays as it is. */
export function noteShown(turn: Turn, { window }: ClusterInput & { kind: 'ReservationShown' }): void {
  const { reservations, plan } = turn.state;
  if (plan.kind === 'nodes' || reservations.has(window.reservationId) || window.endsAt <= turn.now) return;
  changeReservations(turn, [], [window]);
}

/**
 * Removes the reservations that have ended; requests that run inside them are killed, and those that wait for them end.
 * Cost: O(reservations).
 */
export function endReservations(turn: Turn): void {
  const { reservations, plan } = turn.state;
  if (reservations.size > 0)
    changeReservations(
      turn,
      // A cluster whose configuration has gained nodes since honours none of them.
      [...reservations.values()]
        .filter(({ endsAt }) => plan.kind === 'nodes' || endsAt <= turn.now)
        .map(({ reservationId }) => reservationId),
      [],
    );
}

function changeReservations(turn: Turn, removedIds: readonly number[], windows: readonly ReservedWindow[]): void {
  const { state, now } = turn;
  const {
    plan,
    options: { policy },
  } = state;
  const reported = windows
    .map((window) => mergeWindow(state.reservations.get(window.reservationId), window, now))
    .filter((reservation) => reservation !== undefined);
  if (removedIds.length + reported.length === 0) return;
  const promises = listPromises(turn);
  // A due request that waits for processors to be really free remains due.
  for (const { id } of plan.findDue(now)) promises.set(id, now);
  turn.change({ kind: 'ReservationsChanged', removedIds, reported, at: now });
  if (state.plan !== plan) replan(turn, promises);
  // A block that has gone leaves room, as the end of a request does.
  else if (removedIds.length > 0) policy.onEnded(plan, now, turn.place);
  endStranded(turn);
}

/** The reservation as it is from now on; undefined when nothing has changed. */
function mergeWindow(
  known: ClusterReservation | undefined,
  { reservationId, userId, count, startsAt, endsAt }: ReservedWindow,
  now: Instant,
): ClusterReservation | undefined {
  const fresh = { reservationId, userId, count, startsAt, endsAt };
  if (known === undefined) return { ...fresh, reportedAt: now, openedAt: 0 };
  if (isSameWindow(known, fresh)) return undefined;
  const isWithin = startsAt >= known.startsAt && endsAt <= known.endsAt && count <= known.count;
  return {
    ...fresh,
    reportedAt: isWithin ? known.reportedAt : now,
    openedAt: isWithin && startsAt <= now ? known.openedAt : 0,
  };
}

/** Ends requests inside a reservation that no longer exists, or that is too narrow for them now. */
function endStranded(turn: Turn): void {
  for (const id of [...turn.state.insideIds]) {
    const request = getRequest(turn.state, id);
    const reservation = turn.state.reservations.get(request.order.reservationId ?? 0);
    if (reservation === undefined && request.status === 'running') reportToEnd(turn, request, 'MUT_RESERVATION_OVER');
    if (request.status !== 'queued') continue;
    if (reservation === undefined) endRequest(turn, request, 'MUT_RESERVATION_OVER');
    else if (request.order.width > reservation.count) endRequest(turn, request, 'MUT_RESERVATION_EXCEEDED');
  }
}

/**
 * Reservations that have begun, in the order in which they were reported, each with what requests inside it hold. Cost:
 * O(reservations + inside).
 */
function listBegun(
  state: ClusterState,
  now: Instant,
): { readonly reservation: ClusterReservation; readonly used: ProcessorCount }[] {
  if (state.reservations.size === 0) return [];
  const begun = [...state.reservations.values()].filter(({ startsAt, endsAt }) => startsAt <= now && now < endsAt);
  return begun.map((reservation) => ({ reservation, used: countUsed(state, reservation.reservationId) }));
}

/** Processors that requests inside a reservation hold. Cost: O(inside). */
export function countUsed(state: ClusterState, reservationId: number): ProcessorCount {
  let used = 0;
  for (const id of state.insideIds) {
    const { order, status } = getRequest(state, id);
    if (order.reservationId === reservationId && status !== 'queued') used += order.width;
  }
  return used;
}

/** Reservations inside of which requests run, and whose they are. Cost: O(inside). */
export function listUses(state: ClusterState): { readonly reservationId: number; readonly userId: UserId }[] {
  const users = new Map<number, UserId>();
  for (const id of state.insideIds) {
    const {
      order: { reservationId, userId },
      status,
    } = getRequest(state, id);
    if (reservationId !== undefined && status === 'running') users.set(reservationId, userId);
  }
  return [...users].map(([reservationId, userId]) => ({ reservationId, userId }));
}

/**
 * Opens the reservations whose processors are free, and starts the requests that wait inside them, strictly in the
 * order of arrival.
 *
 * Returns what they set aside beyond the used processors: no other request may start on it. A reservation waits for
 * requests that run on its processors, and takes none of a reservation that was reported before it.
 */
export function startInside(turn: Turn): ProcessorCount {
  const { state, now } = turn;
  const { capacity } = state.plan;
  let aside = 0;
  for (const { reservation, used } of listBegun(state, now)) {
    const { reservationId, count, openedAt } = reservation;
    const left = Math.max(0, count - used);
    if (openedAt === 0 && state.processorsBusy + aside + left <= capacity)
      turn.change({ kind: 'ReservationOpened', reservationId, at: now });
    aside += left - startWaiting(turn, reservationId, Math.min(left, capacity - state.processorsBusy - aside));
  }
  return aside;
}

/** Starts the first that wait inside a reservation while they fit; returns what they hold. */
function startWaiting(turn: Turn, reservationId: number, free: ProcessorCount): ProcessorCount {
  let started = 0;
  for (const request of waitingInside(turn.state, reservationId)) {
    if (started + request.order.width > free) break;
    started += request.order.width;
    startRequest(turn, request, turn.now);
  }
  return started;
}

function waitingInside(state: ClusterState, reservationId: number): ClusterRequest[] {
  const inside = [...state.insideIds].map((id) => getRequest(state, id));
  return inside.filter(({ order, status }) => order.reservationId === reservationId && status === 'queued');
}

/** When the next reservation begins or ends; Infinity for never. Cost: O(reservations). */
export function nextOfReservations({ reservations }: ClusterState, now: Instant): Instant {
  let next = Infinity;
  for (const { startsAt, endsAt } of reservations.values()) next = Math.min(next, startsAt > now ? startsAt : endsAt);
  return next;
}
