import { isSameWindow, type ReservedWindow } from '../../messages/index.ts';
import type { Duration, Instant } from '../../shared/index.ts';
import { isPending, isServing, getNumber, type OwnRequest, type ProviderState } from './state.ts';
import { releaseRequest } from './submission.ts';
import { commit, type Turn } from './turn.ts';

/** Takes all reservations of the resource that are confirmed and not over; a level. */
export function takeWindows(turn: Turn, windows: readonly ReservedWindow[]): void {
  const { state, now } = turn;
  const living = windows.filter(({ endsAt }) => endsAt > now);
  const isAsKnown =
    living.length === state.windows.size &&
    living.every((window) => isSameWindow(state.windows.get(window.reservationId), window));
  if (!isAsKnown) commit(turn, { kind: 'WindowsChanged', windows: living, at: now });
}

/**
 * Moves pre-acquired allocations along with their reservation: one that lasts into the new interval is kept, since
 * another would have to wait in the queue again. Missing processors are then requested in addition, and excess ones go
 * back.
 */
export function followWindows(turn: Turn): void {
  const { requests, windows } = turn.state;
  for (const request of requests.values()) {
    const window = windows.get(request.heldFor?.reservationId ?? 0);
    if (window !== undefined && isPending(request) && isServing(request)) followTo(turn, request, window);
  }
  for (const window of windows.values()) releaseExcess(turn, window);
}

function followTo(turn: Turn, request: OwnRequest, window: ReservedWindow): void {
  const { requestId, heldFor } = request;
  if (heldFor === undefined || isSameWindow(window, heldFor)) return;
  // A maintenance that is announced makes its end an earlier one.
  const isShorter = window.endsAt < heldFor.endsAt && isSameWindow({ ...window, endsAt: heldFor.endsAt }, heldFor);
  if (isShorter) commit(turn, { kind: 'HeldShortened', requestId, endsAt: window.endsAt, at: turn.now });
  else if (isWorthKeeping(turn, request, window)) commit(turn, { kind: 'HeldMoved', requestId, window, at: turn.now });
}

/**
 * Gives back held allocations whose reservation was cancelled, has ended, or has a place that they would hardly last
 * into: they are asked for again.
 */
export function releaseHeld(turn: Turn): void {
  const { state, now } = turn;
  for (const request of state.requests.values()) {
    const { heldFor } = request;
    if (heldFor === undefined || !isReleasable(request)) continue;
    const { reservationId } = heldFor;
    if (state.config.holding === undefined) releaseRequest(turn, request, { code: 'released-no-pre-acquisition' });
    else if (now >= heldFor.endsAt)
      releaseRequest(turn, request, { code: 'released-reservation-ended', reservationId });
    else if (!isSameWindow(state.windows.get(reservationId), heldFor))
      releaseRequest(turn, request, { code: 'released-reservation-moved', reservationId });
  }
}

/** What is being asked for cannot be given back before it is known whether the manager has it. */
function isReleasable(request: OwnRequest): boolean {
  return isServing(request) && (request.status === 'queued' || request.status === 'running');
}

/**
 * Whether it serves at least half of what one that is asked for now would serve of the new window, did that start at
 * once.
 */
function isWorthKeeping({ state, now }: Turn, request: OwnRequest, window: ReservedWindow): boolean {
  const from = Math.max(now, window.startsAt);
  // Its broker works on it, and would go on before the new start.
  if (request.reservation !== undefined && from > now) return false;
  const served = (end: Instant): Duration => Math.max(0, Math.min(end, window.endsAt) - from);
  return 2 * served(findEnd(request, now)) >= served(from + (state.limits?.walltimeMax ?? Infinity));
}

/** When an allocation ends by its walltime; of one that waits, if it started now. */
export function findEnd({ status, startedAt, walltime }: OwnRequest, now: Instant): Instant {
  return (status === 'running' ? startedAt : now) + walltime;
}

/**
 * Gives back pre-acquired requests beyond the reserved processors, in whole requests: first waiting ones, then unused
 * ones, the youngest first.
 */
function releaseExcess(turn: Turn, window: ReservedWindow): void {
  const serving = servingFor(turn.state, window);
  let excess = serving.reduce((sum, { width }) => sum + width, -window.count);
  if (excess <= 0) return;
  const rank = ({ status, reservation }: OwnRequest): number =>
    status !== 'running' ? 0 : reservation === undefined ? 1 : 2;
  for (const request of serving
    .filter(isReleasable)
    .sort((one, other) => rank(one) - rank(other) || getNumber(other) - getNumber(one))) {
    if (request.width > excess) continue;
    excess -= request.width;
    const { reservationId, count: reservedProcessors } = window;
    releaseRequest(turn, request, { code: 'released-reservation-shrank', reservationId, reservedProcessors });
  }
}

/** Requests for a reservation where it is now that are there, wait or are being made. */
export function servingFor({ requests }: ProviderState, window: ReservedWindow): OwnRequest[] {
  return [...requests.values()].filter(
    (request) => isPending(request) && isServing(request) && isSameWindow(request.heldFor, window),
  );
}
