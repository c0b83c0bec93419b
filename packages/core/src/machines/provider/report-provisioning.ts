import { isSameWindow, type ProvisioningState, type Provisioning, type ReservedWindow } from '../../messages/index.ts';
import { listedRank, QueueForecast } from '../../requests/index.ts';
import { WaitHistory } from '../../reservations/index.ts';
import { areSameReasons, type Reason } from '../../reasons/index.ts';
import type { Duration, Instant } from '../../shared/index.ts';
import { askingAt, heldFor } from './decide-held.ts';
import { explainNoWork, takesNoWork } from './draining.ts';
import { findEnd } from './follow-windows.ts';
import { listingWithOwn } from './listing-with-own.ts';
import { isPending, isServing, type OwnRequest, type ProviderState } from './state.ts';
import type { Turn } from './turn.ts';

/** Reservations whose start is forecast at each reading of the queue: the next ones. */
const forecastMax = 50;
/** Forecasts that differ by less, and by less than this share of the time that is left, are not reported again. */
const newsMin: Duration = 60_000;
const newsShare = 0.1;
/** Managers end what they granted to the second. */
const lackingMin: Duration = 1_000;

/**
 * Reports to the reservation manager the state of pre-acquired allocations, if it has changed. Cost: O(reservations x
 * requests); with a new listing a reading of the queue for each that waits.
 */
export function reportProvisioning(turn: Turn): void {
  const { state, now } = turn;
  if (state.config.holding === undefined || state.windows.size + state.reportedProvisioning.size === 0) return;
  if (turn.hasListing === true) forecastStarts(turn);
  for (const id of state.reportedProvisioning.keys()) if (!state.windows.has(id)) forget(state, id);
  const waits = new WaitHistory();
  for (const wait of state.waits) waits.add(wait);
  for (const window of state.windows.values()) if (now < window.endsAt) reportWindow(turn, window, waits);
}

function reportWindow(turn: Turn, window: ReservedWindow, waits: WaitHistory): void {
  const {
    state: { reportedProvisioning },
    now,
  } = turn;
  const { reservationId, startsAt } = window;
  const ahead = describeWindow(turn, window, waits);
  const reported = reportedProvisioning.get(reservationId);
  // A forecast is news only with a new reading of the queue: time alone makes any a little other.
  if (
    reported !== undefined &&
    isSameStatus(reported, ahead) &&
    (turn.hasListing !== true || isLikeForecast(reported, ahead, startsAt - now))
  )
    return;
  reportedProvisioning.set(reservationId, ahead);
  turn.commands.push({ kind: 'ReportProvisioning', reservationId, ahead });
}

function forget(state: ProviderState, id: number): void {
  state.reportedProvisioning.delete(id);
  state.expectedStarts.delete(id);
}

const statusFields = ['status', 'heldCount', 'askedCount'] as const;

function isSameStatus(reported: Provisioning, ahead: Provisioning): boolean {
  return (
    statusFields.every((name) => reported[name] === ahead[name]) && areSameReasons(reported.reasons, ahead.reasons)
  );
}

/** Whether a forecast says about the same, as far as there is time left to see it come true. */
function isLikeForecast(reported: Provisioning, ahead: Provisioning, left: Duration): boolean {
  const least = Math.max(newsMin, left * newsShare);
  const isNear = (one: Instant, other: Instant): boolean =>
    (one === 0) === (other === 0) && Math.abs(one - other) <= least;
  if (!isNear(reported.expectedAt, ahead.expectedAt) || !isNear(reported.askAt, ahead.askAt)) return false;
  return (
    (reported.chance === undefined) === (ahead.chance === undefined) &&
    Math.abs((reported.chance ?? 0) - (ahead.chance ?? 0)) <= newsShare
  );
}

/** What is pre-acquired for a reservation, and the chance that it is ready in time. */
function describeWindow(turn: Turn, window: ReservedWindow, waits: WaitHistory): Provisioning {
  const { state, now } = turn;
  // What was asked for when it had another place says nothing of this one.
  const own = heldFor(state, window).filter(
    (request) => request.heldFor !== undefined && isSameWindow({ ...request.heldFor, endsAt: window.endsAt }, window),
  );
  const serving = own.filter((request) => isPending(request) && isServing(request));
  const count = (isIn: (request: OwnRequest) => boolean): number =>
    serving.reduce((sum, request) => (isIn(request) ? sum + request.width : sum), 0);
  const heldCount = count(({ status }) => status === 'running');
  const status = statusOf(window, own, { now, heldCount });
  const isThere = status === 'held' || status === 'honoured';
  return {
    status,
    heldCount: Math.min(heldCount, window.count),
    askedCount: Math.min(
      count((request) => request.status !== 'running'),
      Math.max(0, window.count - heldCount),
    ),
    askAt: status === 'planned' ? plannedFor(turn, window) : 0,
    expectedAt: isThere ? 0 : (state.expectedStarts.get(window.reservationId) ?? 0),
    chance: isThere || now >= window.startsAt ? undefined : getChance(turn, window, { serving, waits }),
    reasons: listReasons(turn, window, { own, serving, status }),
  };
}

interface ResourceStatus {
  readonly now: Instant;
  readonly heldCount: number;
}

function statusOf(
  { count, startsAt }: ReservedWindow,
  own: readonly OwnRequest[],
  { now, heldCount }: ResourceStatus,
): ProvisioningState {
  if (heldCount >= count) return now >= startsAt ? 'honoured' : 'held';
  if (own.some(isLost)) return 'lost';
  if (now >= startsAt) return 'late';
  if (own.some((request) => request.status === 'queued' && isServing(request))) return 'queued';
  return own.some(({ releaseReason }) => releaseReason === undefined) ? 'asked' : 'planned';
}

/** Whether it was there, and went before it was given back. */
function isLost({ startedAt, endedAt, releaseReason }: OwnRequest): boolean {
  return startedAt > 0 && endedAt > 0 && releaseReason === undefined;
}

function plannedFor(turn: Turn, window: ReservedWindow): Instant {
  const { holding } = turn.state.config;
  const at = holding === undefined || holding.kind === 'forecast' ? Infinity : askingAt(turn, window, holding);
  return at < Infinity ? Math.max(at, turn.now) : 0;
}

interface Chances {
  readonly serving: readonly OwnRequest[];
  readonly waits: WaitHistory;
}

/** Of the request that waits the shortest, or of the one still to come; an upper bound if several must all start. */
function getChance(turn: Turn, window: ReservedWindow, { serving, waits }: Chances): number | undefined {
  const { now, state } = turn;
  const waiting = serving.filter(({ status, submittedAt }) => status === 'queued' && submittedAt > 0);
  const asked =
    waiting.length > 0
      ? Math.max(...waiting.map(({ submittedAt }) => submittedAt))
      : Math.max(now, plannedFor(turn, window));
  const width = Math.min(window.count, state.limits?.widthMax ?? Infinity);
  return waits.shareWithin(width, { waited: Math.max(0, now - asked), within: Math.max(0, window.startsAt - asked) });
}

interface Reported {
  readonly own: readonly OwnRequest[];
  readonly serving: readonly OwnRequest[];
  readonly status: ProvisioningState;
}

function listReasons(turn: Turn, window: ReservedWindow, { own, serving, status }: Reported): Reason[] {
  if (takesNoWork(turn.state)) return [explainNoWork(turn.state, 'provider')];
  const lastEnd = own.findLast(({ endedAt, releaseReason }) => endedAt > 0 && releaseReason === undefined);
  if ((status === 'lost' || status === 'asked' || status === 'late') && lastEnd !== undefined)
    return lastEnd.reasons.slice(-1);
  return [...getLateness(window, { serving, status }), ...compareHeld(turn, window, serving)];
}

function getLateness({ startsAt }: ReservedWindow, { serving, status }: Omit<Reported, 'own'>): Reason[] {
  const last = Math.max(0, ...serving.map(({ startedAt }) => startedAt));
  return status === 'honoured' && last > startsAt ? [{ code: 'pre-acquisition-late', lateMs: last - startsAt }] : [];
}

/** How the pre-acquired allocations differ from the reservation. */
function compareHeld({ now }: Turn, { endsAt, count }: ReservedWindow, serving: readonly OwnRequest[]): Reason[] {
  const lacking =
    endsAt -
    Math.min(endsAt, ...serving.filter(({ status }) => status === 'running').map((request) => findEnd(request, now)));
  const surplus = serving.reduce((sum, { width }) => sum + width, -count);
  const reasons: Reason[] = [];
  if (serving.some(({ isShortened }) => isShortened === true)) reasons.push({ code: 'pre-acquisition-shortened' });
  if (lacking >= lackingMin) reasons.push({ code: 'pre-acquisition-renewed', missingMs: lacking });
  if (surplus > 0) reasons.push({ code: 'pre-acquisition-surplus', surplusProcessors: surplus });
  return reasons;
}

/** When each of the next reservations would have all that it lacks, by a new reading of the queue. */
function forecastStarts({ state, now }: Turn): void {
  const { limits, listing } = state;
  if (limits === undefined || listing === undefined) return;
  const queue = listingWithOwn(state, listing, now);
  const present = new QueueForecast(now, limits, queue);
  const next = [...state.windows.values()]
    .filter(({ endsAt }) => endsAt > now)
    .sort((one, other) => one.startsAt - other.startsAt || one.reservationId - other.reservationId);
  state.expectedStarts.clear();
  for (const window of next.slice(0, forecastMax)) {
    const serving = heldFor(state, window).filter((request) => isPending(request) && isServing(request));
    const starts = serving
      .filter(({ status }) => status !== 'running')
      .map((request) => {
        const id = `${state.instance}.${request.requestId}`;
        const entry = queue.requests.find(({ clientRequestId }) => clientRequestId === id);
        if (entry === undefined || entry.startsAt > 0) return entry?.startsAt;
        const ahead = queue.requests.filter(
          (one) =>
            one.status === 'running' ||
            (one.clientRequestId !== id && (one.startsAt > 0 || listedRank(one) <= listedRank(entry))),
        );
        // It has its rank already, and there are no requests left that would give way.
        return new QueueForecast(now, limits, {
          at: queue.at,
          processorsFree: queue.processorsFree,
          reservations: queue.reservations ?? [],
          requests: ahead,
        }).startOf(entry.width, entry.walltime);
      });
    const missing = serving.reduce((left, { width }) => left - width, window.count);
    if (missing > 0)
      starts.push(
        present.startOf(Math.min(missing, limits.widthMax), Math.min(limits.walltimeMax, window.endsAt - now)),
      );
    if (starts.length === 0 || starts.includes(undefined)) continue;
    state.expectedStarts.set(window.reservationId, Math.max(now, ...starts.map((start) => start ?? 0)));
  }
}
