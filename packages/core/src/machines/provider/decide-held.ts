import {
  isSameWindow,
  type ClaimedReservation,
  type ReservedDemand,
  type ReservedWindow,
} from '../../messages/index.ts';
import { QueueForecast } from '../../requests/index.ts';
import { Leads, type HoldingRule, type LeadRule } from '../../reservations/index.ts';
import type { Reason } from '../../reasons/index.ts';
import type { Duration, Instant } from '../../shared/index.ts';
import { competingIn, listingWithOwn } from './listing-with-own.ts';
import { makeRoom, pendingCount, findWants } from './decide-reserved.ts';
import { takesNoWork } from './draining.ts';
import { servingFor } from './follow-windows.ts';
import { overCodes } from './reserved-end.ts';
import {
  getClientRequestId,
  isPending,
  isServing,
  type KnownBroker,
  type OwnRequest,
  type ProviderState,
} from './state.ts';
import { commit, type Turn } from './turn.ts';

/** Notes what the reservation manager says of a claim. */
export function takeJudgement(
  { state, now }: Turn,
  { claim, code }: { readonly claim: string; readonly code: string },
): void {
  state.judgements.set(claim, { code, at: now });
}

/**
 * Asks ahead for the processors of each reservation, as ordinary requests, when the rule says so, and again for what
 * was lost or refused.
 */
export function askAhead(turn: Turn): void {
  const { state, now } = turn;
  const {
    config: { holding },
    limits,
  } = state;
  if (holding === undefined || limits === undefined || takesNoWork(state)) return;
  forgetDue(state);
  for (const window of state.windows.values()) {
    if (now >= window.endsAt || !isTime(turn, window, holding) || now < pausedUntil(state, window)) continue;
    for (let missing = getMissing(state, window); missing > 0; ) {
      if (pendingCount(state) >= limits.requestsMax) {
        makeRoom(turn, window);
        return;
      }
      const width = Math.min(missing, limits.widthMax);
      submitHeld(turn, window, width);
      missing -= width;
    }
  }
}

function forgetDue({ dueWindows, windows }: ProviderState): void {
  for (const id of dueWindows.keys()) if (!windows.has(id)) dueWindows.delete(id);
}

/**
 * From the start on, a pre-acquired allocation is given to the brokers that show a good claim for the reservation; it
 * stays theirs until its end. The reservation's present interval counts, not that of the claim. A claim is checked as
 * soon as it is shown, so that no broker has to wait for that at the start.
 */
export function giveHeld(turn: Turn): void {
  const { state } = turn;
  if (state.config.holding === undefined) return;
  forgetJudgements(turn);
  for (const broker of state.brokers.values())
    for (const want of findWants(turn, broker) ?? []) answerWant(turn, broker, want);
  noteChanges(turn);
}

function answerWant(turn: Turn, broker: KnownBroker, want: ReservedDemand): void {
  const { state, now } = turn;
  const window = findWindow(state, want);
  const { startsAt, endsAt } = window ?? want;
  if (now >= endsAt || !isGood(turn, broker, want)) return;
  if (now >= startsAt) giveFor(turn, broker, want);
}

/** The present interval of a claimed reservation; undefined if it is not known to be valid. */
export function findWindow(
  { windows }: ProviderState,
  { reservationId, userId }: ReservedDemand,
): ReservedWindow | undefined {
  const window = windows.get(reservationId);
  return window?.userId === userId ? window : undefined;
}

/** A request with a pre-acquired allocation uses the dates and amount of its claim until it learns of others. */
function noteChanges(turn: Turn): void {
  for (const request of turn.state.requests.values()) {
    const { requestId, reservation, heldFor } = request;
    if (reservation === undefined || heldFor === undefined || !isPending(request)) continue;
    const { startsAt, endsAt, count: amount } = heldFor;
    if (reservation.startsAt === startsAt && reservation.endsAt === endsAt && reservation.amount === amount) continue;
    commit(turn, { kind: 'RequestMoved', requestId, startsAt, endsAt, amount, at: turn.now });
  }
}

/** When time alone changes what is held. */
export function nextHeld(turn: Turn): Instant[] {
  const {
    state,
    state: {
      config: { holding },
    },
  } = turn;
  if (holding === undefined) return [];
  const askedAt = (window: ReservedWindow): Instant =>
    holding.kind === 'forecast' ? window.startsAt : askingAt(turn, window, holding);
  const wants = [...state.brokers.values()].flatMap((broker) => findWants(turn, broker) ?? []);
  const wanted = wants.flatMap((want) => [judgedAgainAt(state, want), want.startsAt]);
  return [
    ...wanted,
    ...[...state.windows.values()].flatMap((window) => [
      askedAt(window),
      pausedUntil(state, window),
      window.startsAt,
      window.endsAt,
    ]),
  ];
}

/** Whether a claim is known to be good; if it can never be used, its broker is notified. */
function isGood(turn: Turn, broker: KnownBroker, want: ReservedDemand): boolean {
  const code = judge(turn, want);
  if (code !== undefined && overCodes.has(code)) refuseWant(turn, broker, want, code);
  return code === '';
}

function giveFor(turn: Turn, broker: KnownBroker, want: ReservedDemand): void {
  const { state, now } = turn;
  let missing = want.processors - givenTo(state, broker, want);
  for (const request of state.requests.values()) {
    if (missing <= 0) return;
    if (!isFreeFor(request, want)) continue;
    commit(turn, {
      kind: 'HeldGiven',
      requestId: request.requestId,
      brokerId: broker.brokerId,
      reservation: getClaimed(want),
      at: now,
    });
    missing -= request.width;
  }
}

/** What is known of a claim. Asks for it if nothing lasting is known; undefined until there is an answer. */
function judge({ state, now, commands }: Turn, want: ReservedDemand): string | undefined {
  const known = state.judgements.get(want.claim);
  if (known !== undefined && now < judgedAgainAt(state, want)) return known.code;
  state.judgements.set(want.claim, { code: 'MUT_UNREACHABLE', at: now });
  commands.push({ kind: 'JudgeClaim', reservation: getClaimed(want) });
  return undefined;
}

/**
 * When a claim is checked again: never if it cannot be used any more, or if it was found good and its reservation is
 * known. A claim that was good and whose reservation is no longer known may have been cancelled, which the broker
 * learns only by this check.
 */
function judgedAgainAt(state: ProviderState, want: ReservedDemand): Instant {
  const known = state.judgements.get(want.claim);
  if (known === undefined) return 0;
  const isLasting = overCodes.has(known.code) || (known.code === '' && findWindow(state, want) !== undefined);
  return isLasting ? Infinity : known.at + state.config.refusalPause;
}

/**
 * Forgets the judgements of claims without demand; while the demand of a broker is unknown, none. Cost: O(brokers x
 * wants).
 */
function forgetJudgements(turn: Turn): void {
  const { judgements, brokers } = turn.state;
  if (judgements.size === 0) return;
  const wanted = new Set<string>();
  for (const broker of brokers.values()) {
    const wants = findWants(turn, broker);
    if (wants === undefined) return;
    for (const { claim } of wants) wanted.add(claim);
  }
  for (const claim of judgements.keys()) if (!wanted.has(claim)) judgements.delete(claim);
}

/** Whether a request is held for a reservation, and no broker has it. */
function isFreeFor(request: OwnRequest, { reservationId }: ReservedDemand): boolean {
  return (
    request.heldFor?.reservationId === reservationId &&
    request.reservation === undefined &&
    request.status === 'running' &&
    isServing(request)
  );
}

/** Notifies a broker, once, that its claim cannot be used. */
function refuseWant(turn: Turn, { brokerId }: KnownBroker, want: ReservedDemand, code: string): void {
  const { state, now } = turn;
  if (
    [...state.requests.values()].some(
      ({ reservation, overCode }) => overCode !== undefined && reservation?.claim === want.claim,
    )
  )
    return;
  const requestId = `q${state.nextRequestNumber}`;
  const { userId, endsAt, processors: width } = want;
  commit(turn, {
    kind: 'RequestDrafted',
    requestId,
    brokerId,
    userId,
    width,
    walltime: Math.max(1, endsAt - now),
    heuristic: '',
    reasons: [{ code: 'requested-inside-reservation', reservationId: want.reservationId }],
    reservation: getClaimed(want),
    at: now,
  });
  commit(turn, {
    kind: 'RequestEnded',
    requestId,
    status: 'rejected',
    reason: { code: 'claim-refused', refusalCode: code },
    endedAt: now,
    overCode: code,
    at: now,
  });
}

function getClaimed({ processors: _processors, ...claimed }: ReservedDemand): ClaimedReservation {
  return claimed;
}

function givenTo({ requests }: ProviderState, { brokerId }: KnownBroker, { claim }: ReservedDemand): number {
  let given = 0;
  for (const request of requests.values())
    if (request.brokerId === brokerId && request.reservation?.claim === claim && isServing(request))
      given += request.width;
  return given;
}

/**
 * Whether to request the allocation of a reservation now: one that was requested before, and was lost or refused, is
 * requested again.
 */
function isTime(turn: Turn, window: ReservedWindow, rule: LeadRule): boolean {
  const { state, now } = turn;
  if (rule.kind !== 'forecast') return now >= askingAt(turn, window, rule);
  if (now >= window.startsAt || heldFor(state, window).some((request) => isSameWindow(request.heldFor, window)))
    return true;
  if (turn.hasListing !== true) return isSameWindow(state.dueWindows.get(window.reservationId), window);
  const isDue = isForecastDue(turn, window, rule.margin);
  if (isDue) state.dueWindows.set(window.reservationId, window);
  else state.dueWindows.delete(window.reservationId);
  return isDue;
}

/** Whether a request that is made later than now would start too late, by the listing that has just come. */
function isForecastDue(turn: Turn, { endsAt, startsAt, count }: ReservedWindow, margin: Duration): boolean {
  const { state, now } = turn;
  const { limits, listing } = state;
  if (limits === undefined || listing === undefined || endsAt - now > limits.walltimeMax) return false;
  turn.forecast ??= new QueueForecast(now, limits, competingIn(state, listingWithOwn(state, listing, now)));
  return (turn.forecast.startOf(Math.min(count, limits.widthMax), endsAt - now) ?? startsAt) >= startsAt - margin;
}

/**
 * When its allocation is requested: not so early that the longest walltime, from then on, ends before the reservation
 * does, if that is possible.
 */
export function askingAt(turn: Turn, { startsAt, endsAt, count: width }: ReservedWindow, rule: HoldingRule): Instant {
  const { limits, waits } = turn.state;
  if (limits === undefined) return Infinity;
  turn.leads ??= new Leads(rule, waits);
  return Math.max(Math.min(startsAt, endsAt - limits.walltimeMax), startsAt - turn.leads.of(width));
}

/** Requests that were ever made for a reservation, as far as they are remembered, in the order in which they were. */
export function heldFor({ requests }: ProviderState, { reservationId }: ReservedWindow): OwnRequest[] {
  return [...requests.values()].filter((request) => request.heldFor?.reservationId === reservationId);
}

function getMissing(state: ProviderState, window: ReservedWindow): number {
  return servingFor(state, window).reduce((missing, { width }) => missing - width, window.count);
}

function pausedUntil(state: ProviderState, window: ReservedWindow): Instant {
  const ends = heldFor(state, window)
    .filter(({ endedAt, releaseReason }) => endedAt > 0 && releaseReason === undefined)
    .map(({ endedAt }) => endedAt + state.config.refusalPause);
  return ends.reduce((latest, one) => Math.max(latest, one), 0);
}

function submitHeld(turn: Turn, window: ReservedWindow, width: number): void {
  const { state, now } = turn;
  const { userId } = state.config;
  const { reservationId, count, startsAt, endsAt } = window;
  const walltime = Math.min(endsAt - now, state.limits?.walltimeMax ?? Infinity);
  const reserved = { reservationId, reservedProcessors: count };
  const reason: Reason =
    startsAt > now
      ? { code: 'pre-acquired-before-start', ...reserved, startMs: startsAt - now }
      : { code: 'pre-acquired-after-start', ...reserved, leftMs: endsAt - now };
  const requestId = `q${state.nextRequestNumber}`;
  commit(turn, {
    kind: 'RequestDrafted',
    requestId,
    brokerId: '',
    userId,
    width,
    walltime,
    heuristic: '',
    reasons: [reason],
    heldFor: window,
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
  });
}
