import { type ClaimedReservation, type ReservedDemand } from '../../messages/index.ts';
import type { Reason } from '../../reasons/index.ts';
import type { Instant } from '../../shared/index.ts';
import { takesNoWork } from './draining.ts';
import {
  getClientRequestId,
  isPending,
  isServing,
  getNumber,
  type KnownBroker,
  type OwnRequest,
  type ProviderState,
} from './state.ts';
import { releaseRequest } from './submission.ts';
import { commit, type Turn } from './turn.ts';

/**
 * Releases requests inside a reservation that no broker needs any more: no other job could use them, and a new demand
 * gets a request at once.
 */
export function releaseReserved(turn: Turn): void {
  for (const request of turn.state.requests.values()) {
    const { reservation, brokerId } = request;
    if (
      reservation === undefined ||
      request.heldFor !== undefined ||
      !isServing(request) ||
      (request.status !== 'queued' && request.status !== 'running')
    )
      continue;
    const wants = findWants(turn, turn.state.brokers.get(brokerId));
    if (wants === undefined || wants.some((want) => isSame(want, reservation))) continue;
    const { reservationId } = reservation;
    releaseRequest(turn, request, { code: 'released-nothing-inside-reservation', reservationId });
  }
}

/**
 * Withdraws waiting requests beyond the present size of a reservation that was resized, the youngest first; running
 * ones go on.
 */
export function withdrawExcess(turn: Turn): void {
  const { state } = turn;
  if (state.config.holding !== undefined) return;
  for (const broker of state.brokers.values()) {
    for (const want of findWants(turn, broker) ?? []) {
      const held = requestsInside(state, broker, want).filter((request) => isPending(request) && isServing(request));
      let excess = held.reduce((sum, { width }) => sum + width, -amountNow(state, want));
      for (const request of held.reverse()) {
        if (excess <= 0) break;
        if (request.status !== 'queued') continue;
        excess -= request.width;
        releaseRequest(turn, request, {
          code: 'withdrawn-reservation-shrank',
          reservationId: want.reservationId,
          reservedProcessors: amountNow(state, want),
        });
      }
    }
  }
}

/** Processors of a reservation as its resource listed it last, else as its broker says. */
function amountNow({ listing }: ProviderState, { reservationId, userId, amount }: ReservedDemand): number {
  const listed = listing?.reservations?.find((one) => one.reservationId === reservationId && one.userId === userId);
  return listed?.count ?? amount;
}

/**
 * Makes the requests inside reservations before any others: as wide as the broker's tasks can use, to the end of the
 * reservation. A request that is made before the start waits at the manager until then.
 */
export function draftReserved(turn: Turn): void {
  const { state } = turn;
  if (
    state.config.holding !== undefined ||
    takesNoWork(state) ||
    state.limits === undefined ||
    state.config.resourceKind === 'machines'
  )
    return;
  for (const broker of state.brokers.values()) {
    for (const want of findWants(turn, broker) ?? []) askInside(turn, broker, want);
  }
}

/** When time alone lets something more be asked for inside a reservation. */
export function nextReserved(turn: Turn): Instant[] {
  const { state } = turn;
  const due: Instant[] = [];
  if (state.config.holding !== undefined) return due;
  for (const broker of state.brokers.values()) {
    for (const want of findWants(turn, broker) ?? [])
      if (getMissing(state, broker, want) > 0 && !isOver(turn, want)) due.push(pausedUntil(state, broker, want));
  }
  return due;
}

/**
 * A broker's demand inside reservations: undefined while it is unknown; empty once the broker has been away for longer
 * than its grace.
 */
export function findWants(
  { state, now }: Turn,
  broker: KnownBroker | undefined,
): readonly ReservedDemand[] | undefined {
  if (broker === undefined) return [];
  if (broker.connectionId === 0 && now >= broker.awaySince + state.config.brokerGrace) return [];
  return broker.demand === undefined ? undefined : (broker.demand.reserved ?? []);
}

/** A manager writes a claim with the same text every time. */
function isSame(one: ClaimedReservation, other: ClaimedReservation): boolean {
  return one.claim === other.claim;
}

function askInside(turn: Turn, broker: KnownBroker, want: ReservedDemand): void {
  const { state, now } = turn;
  const { limits } = state;
  if (limits === undefined || isOver(turn, want) || now < pausedUntil(state, broker, want)) return;
  let missing = getMissing(state, broker, want);
  while (missing > 0) {
    if (pendingCount(state) >= limits.requestsMax) {
      makeRoom(turn, want);
      return;
    }
    const width = Math.min(missing, limits.widthMax);
    submitInside(turn, broker, want, width);
    missing -= width;
  }
}

/** Requests that hold a slot at the manager. */
export function pendingCount({ requests }: ProviderState): number {
  let count = 0;
  for (const request of requests.values()) if (isPending(request)) count += 1;
  return count;
}

/** Whether its manager has reported, or its end shows, that the reservation can no longer be used. */
function isOver({ state, now }: Turn, want: ReservedDemand): boolean {
  if (want.endsAt <= now) return true;
  for (const { reservation, overCode } of state.requests.values()) {
    if (overCode !== undefined && reservation !== undefined && isSame(want, reservation)) return true;
  }
  return false;
}

function requestsInside({ requests }: ProviderState, { brokerId }: KnownBroker, want: ReservedDemand): OwnRequest[] {
  return [...requests.values()].filter(
    (request) =>
      request.brokerId === brokerId && request.reservation !== undefined && isSame(want, request.reservation),
  );
}

/** Processors that are wanted and neither there nor asked for. */
function getMissing(state: ProviderState, broker: KnownBroker, want: ReservedDemand): number {
  const held = requestsInside(state, broker, want).filter((request) => isPending(request) && isServing(request));
  return held.reduce((missing, { width }) => missing - width, Math.min(want.processors, amountNow(state, want)));
}

/** After any end, the next request is delayed. */
function pausedUntil(state: ProviderState, broker: KnownBroker, want: ReservedDemand): Instant {
  const ends = requestsInside(state, broker, want)
    .filter(({ endedAt }) => endedAt > 0)
    .map(({ endedAt }) => endedAt + state.config.refusalPause);
  return ends.reduce((latest, one) => Math.max(latest, one), 0);
}

/** A reserved request takes precedence: the youngest request that waits outside reservations gives up its slot. */
export function makeRoom(turn: Turn, { reservationId }: { readonly reservationId: number }): void {
  const pending = [...turn.state.requests.values()].filter(isPending);
  if (pending.some((request) => !isServing(request))) return; // A slot is about to come free.
  const queued = pending.filter(
    ({ status, reservation, heldFor }) => status === 'queued' && reservation === undefined && heldFor === undefined,
  );
  const youngest = queued.reduce<OwnRequest | undefined>(
    (last, request) => (last === undefined || getNumber(request) > getNumber(last) ? request : last),
    undefined,
  );
  if (youngest !== undefined) releaseRequest(turn, youngest, { code: 'withdrawn-for-reservation', reservationId });
}

function submitInside(turn: Turn, broker: KnownBroker, want: ReservedDemand, width: number): void {
  const { state, now } = turn;
  const { processors, hasMoved: _hasMoved, ...reservation } = want;
  const { reservationId, userId, startsAt, endsAt, amount } = want;
  const walltime = Math.min(endsAt - Math.max(now, startsAt), state.limits?.walltimeMax ?? Infinity);
  const reserved = { reservationId, reservedProcessors: amount, usableProcessors: processors };
  const reason: Reason =
    startsAt > now
      ? { code: 'requested-inside-waiting-reservation', ...reserved, startMs: startsAt - now }
      : { code: 'requested-inside-running-reservation', ...reserved, leftMs: endsAt - now };
  const requestId = `q${state.nextRequestNumber}`;
  commit(turn, {
    kind: 'RequestDrafted',
    requestId,
    brokerId: broker.brokerId,
    userId,
    width,
    walltime,
    heuristic: '',
    reasons: [reason],
    reservation,
    at: now,
  });
  commit(turn, { kind: 'RequestSubmitting', requestId, at: now });
  turn.commands.push({
    kind: 'SubmitRequest',
    requestId,
    clientRequestId: getClientRequestId(state, requestId),
    userId,
    width,
    walltime,
    reservation,
  });
}
