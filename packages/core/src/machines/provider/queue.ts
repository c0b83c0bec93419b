import type { QueuedRequest, QueueListing, ResourceLimits } from '../../messages/index.ts';
import type { Reason } from '../../reasons/index.ts';
import { keyOfNodes } from '../../resources/index.ts';
import { servesSlot } from './slots.ts';
import type { Duration, Instant, RequestId } from '../../shared/index.ts';
import { noteCutOff } from './cut-off.ts';
import { isWatched, isWatching } from './heuristic.ts';
import { getLoseMachines } from './machines.ts';
import { hasFreed } from './note-triggers.ts';
import { getOverCode } from './reserved-end.ts';
import { noteWindow } from './reserved-windows.ts';
import { inOwnClock } from './own-clock.ts';
import { soundListing } from './sound-listing.ts';
import { getClientRequestId, isPending, isServing, getNumber, type OwnRequest, type ProviderState } from './state.ts';
import { commit, type Turn } from './turn.ts';

/** A request counts as gone, or as requeued, after this many good listings in a row: a single one may lag behind. */
const missedListingsMax = 2;

const requeued: Reason = { code: 'requeued' };

/** An agent reports a start before any listing does, though somewhat later than it was. */
const startTolerance: Duration = 60_000;

/** A promise that first appears longer than this after the submission says too little of what was promised then. */
const promiseReceivedMax: Duration = 10 * 60_000;

/** Requests that a provider makes use of at a time: heuristics consider each of them. */
const requestsMax = 10_000;

/** Takes the resource's limits; they are journaled when they are new. */
export function takeLimits(turn: Turn, reported: ResourceLimits): void {
  const limits = { ...reported, requestsMax: Math.min(reported.requestsMax, requestsMax) };
  const before = turn.state.limits;
  const isSame =
    before !== undefined &&
    before.processors === limits.processors &&
    before.requestsMax === limits.requestsMax &&
    before.walltimeMax === limits.walltimeMax &&
    before.widthMax === limits.widthMax &&
    before.walltimeGranularity === limits.walltimeGranularity &&
    before.widthGranularity === limits.widthGranularity &&
    before.nodesMax === limits.nodesMax &&
    keyOfNodes(before.nodes) === keyOfNodes(limits.nodes);
  if (!isSame) commit(turn, { kind: 'LimitsChanged', limits, at: turn.now });
}

/** Notes that the queue could not be read: what is known of the requests is stale, and stays. */
export function noteFailedReading(state: ProviderState, reason: string): void {
  state.listingFailure = reason === '' ? 'unknown reason' : reason;
}

/** Compares a good listing with what this provider knows of its own requests. */
export function takeListing(turn: Turn, reported: QueueListing, readAt: Instant): void {
  const { state } = turn;
  const listing = inOwnClock(turn, soundListing(reported));
  if (
    isWatching(state) &&
    (state.listing === undefined || state.listingFailure !== '' || hasFreed(state, state.listing, listing))
  )
    turn.hasFreed = true;
  state.listing = listing;
  turn.hasListing = true;
  state.listingFailure = '';
  const { byRequestId, unknown } = findOwnEntries(state, listing);
  for (const request of [...state.requests.values()]) {
    const entry = byRequestId.get(request.requestId);
    // First how large its reservation is now, which is why a request may have ended.
    if (entry !== undefined) noteWindow(turn, request, reported);
    if (entry === undefined) missRequest(turn, request, readAt);
    else seeRequest(turn, request, entry, readAt);
  }
  for (const entry of unknown) {
    if (entry.status !== 'ended') releaseForgotten(turn, entry);
  }
}

function findOwnEntries(
  state: ProviderState,
  listing: QueueListing,
): { byRequestId: Map<RequestId, QueuedRequest>; unknown: QueuedRequest[] } {
  const byClientId = new Map<string, RequestId>();
  const byManagerId = new Map<string, RequestId>();
  for (const { requestId, managerRequestId } of state.requests.values()) {
    byClientId.set(getClientRequestId(state, requestId), requestId);
    if (managerRequestId !== '') byManagerId.set(managerRequestId, requestId);
  }
  const byRequestId = new Map<RequestId, QueuedRequest>();
  const unknown: QueuedRequest[] = [];
  for (const entry of listing.requests) {
    const requestId = byClientId.get(entry.clientRequestId) ?? byManagerId.get(entry.managerRequestId);
    if (requestId !== undefined) byRequestId.set(requestId, entry);
    else if (entry.clientRequestId.startsWith(`${state.instance}.`)) unknown.push(entry);
  }
  return { byRequestId, unknown };
}

/** A request that was forgotten long ago and shows up again belongs to no broker. */
function releaseForgotten(turn: Turn, entry: QueuedRequest): void {
  const requestId = entry.clientRequestId.slice(turn.state.instance.length + 1);
  turn.commands.push({ kind: 'ReleaseRequest', requestId, managerRequestId: entry.managerRequestId });
}

function missRequest(turn: Turn, request: OwnRequest, readAt: Instant): void {
  if (!isPending(request) || request.status === 'drafted') return;
  // The call is still out.
  if (request.status === 'submitting' && (request.unknownSince === 0 || readAt <= request.unknownSince)) return;
  if (isOlder(turn, readAt, request.submittedAt)) return;
  request.missedListings += 1;
}

/**
 * Gives up requests that listings lacked once too often. Agents speak louder than listings, also those that came in the
 * same turn.
 */
export function giveUpMissed(turn: Turn): void {
  for (const request of [...turn.state.requests.values()]) {
    if (request.missedListings < missedListingsMax || !isPending(request)) continue;
    if (hasMachine(turn.state, request)) request.missedListings = 0;
    else giveUp(turn, request);
  }
}

function giveUp(turn: Turn, request: OwnRequest): void {
  if (request.releaseReason !== undefined) {
    endRequest(turn, request, {
      status: 'ended',
      reason: { code: 'released-not-listed' },
      endedAt: turn.now,
    });
  } else {
    const reason: Reason = { code: 'vanished-from-listings', listings: missedListingsMax };
    endRequest(turn, request, { status: 'vanished', reason, endedAt: turn.now });
  }
}

/**
 * Has requests wait again that their manager put back into its queue: after a failure of a node, by hand, or because it
 * lost the start itself.
 *
 * A lagging listing looks the same, so it takes two in a row, and none of the request's agents there or in its grace.
 */
export function requeueWaiting(turn: Turn): void {
  for (const request of turn.state.requests.values()) {
    if ((request.waitingListings ?? 0) < missedListingsMax || request.status !== 'running') continue;
    if (hasMachine(turn.state, request)) delete request.waitingListings;
    else commit(turn, { kind: 'RequestRequeued', requestId: request.requestId, reason: requeued, at: turn.now });
  }
}

function hasMachine(state: ProviderState, request: OwnRequest): boolean {
  return [...state.machines.values()].some((machine) => machine.facts.requestId === request.requestId);
}

function seeRequest(turn: Turn, request: OwnRequest, entry: QueuedRequest, readAt: Instant): void {
  if (!isPending(request)) {
    if (entry.status !== 'ended' && !isOlder(turn, readAt, request.endedAt)) seeEndedRequest(turn, request, entry);
    return;
  }
  request.seenAt = turn.now;
  request.missedListings = 0;
  noteQueued(turn, request, entry.managerRequestId);
  notePromise(turn, request, entry);
  noteWaiting(turn, request, entry, readAt);
  if (entry.status === 'running' && isStartNew(request, entry)) {
    if (isStartedAgain(turn, request, entry))
      commit(turn, { kind: 'RequestRequeued', requestId: request.requestId, reason: requeued, at: turn.now });
    commit(turn, {
      kind: 'RequestStarted',
      requestId: request.requestId,
      startedAt: entry.startsAt || turn.now,
      at: turn.now,
    });
  } else if (entry.status === 'ended') {
    seeEnd(turn, request, entry);
  }
}

/** Counts listings that show a request as waiting which had started when they were read. */
function noteWaiting(turn: Turn, request: OwnRequest, { status }: QueuedRequest, readAt: Instant): void {
  if (request.status !== 'running' || status !== 'queued') delete request.waitingListings;
  else if (!isOlder(turn, readAt, request.startedAt)) request.waitingListings = (request.waitingListings ?? 0) + 1;
}

/**
 * Whether it was put back and started again between two listings: it starts later than it did, and nothing of its first
 * start is there.
 */
function isStartedAgain({ state }: Turn, request: OwnRequest, { startsAt }: QueuedRequest): boolean {
  return (
    request.status === 'running' && request.hasServed && startsAt > request.startedAt && !hasMachine(state, request)
  );
}

/**
 * What a request that waits is promised at first: heuristics that watch learn from it how much earlier requests start.
 */
function notePromise(
  turn: Turn,
  { requestId, status, promisedStart, submittedAt, heuristic }: OwnRequest,
  entry: QueuedRequest,
): void {
  if (
    status !== 'queued' ||
    entry.status !== 'queued' ||
    entry.startsAt <= 0 ||
    promisedStart !== undefined ||
    !isWatched(turn.state, heuristic)
  )
    return;
  if (turn.now - (entry.submittedAt > 0 ? entry.submittedAt : submittedAt) > promiseReceivedMax) return;
  commit(turn, { kind: 'RequestPromised', requestId, startsAt: entry.startsAt, at: turn.now });
}

/**
 * Whether a listing was read before the moment, which is by our clock; a moment in the future comes from a clock that
 * was set back since, and gives no information.
 */
function isOlder({ now }: Turn, readAt: Instant, moment: Instant): boolean {
  return moment <= now && readAt <= moment;
}

/** A start that was not known, or that our clock, set since, showed otherwise. */
function isStartNew({ status, startedAt }: OwnRequest, entry: QueuedRequest): boolean {
  return (
    status === 'queued' ||
    (status === 'running' && entry.startsAt > 0 && Math.abs(entry.startsAt - startedAt) > startTolerance)
  );
}

/** Takes the manager's own number for a request; it may come late, for one whose agents came first. */
export function noteQueued(turn: Turn, request: OwnRequest, managerRequestId: string): void {
  const { requestId, startedAt } = request;
  const wasRunning = request.status === 'running';
  if (request.status !== 'submitting' && request.managerRequestId !== '') return;
  commit(turn, { kind: 'RequestQueued', requestId, managerRequestId, at: turn.now });
  if (wasRunning) commit(turn, { kind: 'RequestStarted', requestId, startedAt, at: turn.now });
}

function seeEnd(turn: Turn, request: OwnRequest, entry: QueuedRequest): void {
  const hasRun = entry.startsAt > 0 && entry.startsAt <= entry.endedAt;
  if (request.status === 'queued' && hasRun) {
    commit(turn, { kind: 'RequestStarted', requestId: request.requestId, startedAt: entry.startsAt, at: turn.now });
  }
  const over = getOverCode(request, entry.endReason);
  const code = codeOfEnd(entry, hasRun);
  const asked = request.releaseReason === undefined ? { endCode: code } : {};
  endRequest(
    turn,
    request,
    {
      status: 'ended',
      reason: { code: 'ended-by-manager', cause: entry.endReason },
      endedAt: entry.endedAt || turn.now,
      ...over,
      ...asked,
    },
    code,
  );
}

function codeOfEnd(entry: QueuedRequest, hasRun: boolean): string {
  const isWalltime = hasRun && entry.endedAt - entry.startsAt >= entry.walltime;
  if (isWalltime || entry.endReason === 'MUT_WALLTIME_ENDED') return 'MUT_WALLTIME_ENDED';
  return brokenEnd.test(entry.endReason) ? 'MUT_MACHINE_LOST' : 'MUT_ALLOCATION_ENDED';
}

/**
 * Ends that were not ordered, by the names of Slurm and the embedded cluster: a task may have caused them, unlike a
 * preemption or a cancellation.
 */
const brokenEnd = /^(?:BOOT_FAIL|FAILED|NODE_FAIL|OUT_OF_MEMORY|MUT_COMMAND_FAILED|MUT_NODE_LOST)/;

/** One that was given up is taken back when it shows up again and a slot is free for it; otherwise it is released. */
function seeEndedRequest(turn: Turn, request: OwnRequest, entry: QueuedRequest): void {
  const { state, now } = turn;
  const { requestId } = request;
  const pendingCount = [...state.requests.values()].filter(isPending).length;
  if (request.status === 'vanished' && pendingCount < (state.limits?.requestsMax ?? 0)) {
    commit(turn, { kind: 'RequestQueued', requestId, managerRequestId: entry.managerRequestId, at: now });
    if (entry.status === 'running')
      commit(turn, { kind: 'RequestStarted', requestId, startedAt: entry.startsAt || now, at: now });
  } else if (request.releaseAskedAt === 0 || now >= request.releaseAskedAt + state.config.releaseRetry) {
    request.releaseAskedAt = now;
    turn.commands.push({ kind: 'ReleaseRequest', requestId, managerRequestId: entry.managerRequestId });
  }
}

/** How a request came to its end. */
export interface Ending {
  readonly status: 'ended' | 'rejected' | 'vanished';
  readonly reason: Reason;
  readonly endedAt: Instant;
  /** Why its reservation can no longer be used. */
  readonly overCode?: string;
  /** See `OwnRequest`. */
  readonly endCode?: string;
}

/** Ends a request; its machines are lost at once. */
export function endRequest(turn: Turn, request: OwnRequest, ending: Ending, code = 'MUT_ALLOCATION_ENDED'): void {
  const broker = turn.state.brokers.get(request.brokerId);
  if (
    broker !== undefined &&
    request.reservation === undefined &&
    isServing(request) &&
    getNumber(request) < broker.demandRequest &&
    servesSlot(request, broker.demand?.slot)
  )
    broker.endedProcessors += request.width;
  noteCutOff(turn, request);
  commit(turn, { kind: 'RequestEnded', requestId: request.requestId, ...ending, at: turn.now });
  getLoseMachines(turn, request, code);
}
