import {
  findHeuristic, type DraftedRequest, type PendingRequest, type RequestCandidate, type RequestDecision, type RequestHeuristic, type ServedRequest,
} from '../../requests/index.ts';
import { describeTime, invariant } from '../../shared/index.ts';
import type { QueueListing, ResourceLimits } from '../../messages/index.ts';
import { isTooWide, neededAlone, requestsOf, runningProcessors, unplacedTasks, wantedProcessors } from './brokers.ts';
import { widenForGang } from './widen-for-gang.ts';
import { heuristicInForce } from './heuristic.ts';
import { listingWithOwn } from './listing-with-own.ts';
import { clientRequestIdOf, credentialEnd, isOfDemand, isPending, isServing, observedTaskTimes, type KnownBroker, type OwnRequest, type ProviderState } from './state.ts';
import { releaseRequest } from './submission.ts';
import { commit, type Turn } from './turn.ts';

/**
 * Gives back what no broker has needed for the idle time. A queued request that is withdrawn as soon as running ones do is asked for again
 * when the next few tasks come, and begins at the end of the queue.
 */
export function releaseSurplus(turn: Turn): void {
  const { state, now } = turn;
  if (state.drainReason !== '') giveBack(turn);
  if (state.listingFailure !== '') releaseOverdue(turn);
  for (const broker of state.brokers.values()) {
    const { idleSince, coveredSince } = broker;
    if (coveredSince > 0 && now >= coveredSince + state.config.idleRelease) withdrawQueued(turn, broker);
    if (idleSince > 0 && now >= idleSince + state.config.idleRelease) releaseRunning(turn, broker);
  }
}

/** While the manager cannot be asked: an allocation whose walltime is long over has no agents any more, only people with its credential. */
function releaseOverdue(turn: Turn): void {
  for (const request of turn.state.requests.values()) {
    if (request.status !== 'running' || !isServing(request) || turn.now < credentialEnd(turn.state, request)) continue;
    releaseRequest(turn, request, 'Released: its walltime is over, and the queue that would show its end cannot be read.');
  }
}

function withdrawQueued(turn: Turn, broker: KnownBroker): void {
  const wanted = wantedProcessors(turn, broker) ?? 0;
  const since = describeTime(turn.now - broker.coveredSince);
  const reason = wanted === 0
    ? `Withdrawn: running allocations have covered what was wanted for ${since}, and now no task is pending.`
    : `Withdrawn: running allocations have covered what was wanted for ${since}; they have ${runningProcessors(turn.state, broker.brokerId)} processors for the ${wanted} wanted now.`;
  for (const request of requestsOf(turn.state, broker.brokerId)) {
    if (request.status === 'queued' && isServing(request)) releaseRequest(turn, request, reason);
  }
}

function releaseRunning(turn: Turn, broker: KnownBroker): void {
  for (const request of requestsOf(turn.state, broker.brokerId)) {
    if (request.status !== 'running' || !isServing(request)) continue;
    releaseRequest(turn, request, `Released: nothing has been wanted for ${describeTime(turn.now - broker.idleSince)}.`);
  }
}

/** While the provider drains: takes out what waits at the manager, and what runs too where all is to be given back. */
function giveBack(turn: Turn): void {
  const { requests, drainReason, givesAllBack } = turn.state;
  for (const request of requests.values()) {
    if (!isServing(request)) continue;
    if (request.status === 'queued') releaseRequest(turn, request, `Withdrawn: the provider drains (${drainReason}).`);
    else if (request.status === 'running' && givesAllBack) releaseRequest(turn, request, `Released: the provider ends (${drainReason}).`);
  }
}

/** What a decision needs of the resource. */
interface Resource {
  readonly limits: ResourceLimits;
  readonly listing: QueueListing;
}

/**
 * Asks the heuristic for requests, for one broker after the other, where running allocations do not cover its demand.
 *
 * The free slots are shared evenly among such brokers, those with the fewest pending requests first.
 */
export function draftRequests(turn: Turn): void {
  const { state } = turn;
  const brokers = brokersInNeed(turn);
  const obstacle = findObstacle(turn, brokers.length);
  if (obstacle !== undefined) {
    state.standing = [obstacle];
    return;
  }
  const { limits, listing } = state;
  if (limits === undefined || listing === undefined) return;
  const { heuristic: name } = heuristicInForce(state);
  const heuristic = findHeuristic(name);
  invariant(heuristic !== undefined, `the request heuristic ${name} is not known`);
  const reasons: string[] = [];
  brokers.forEach((broker, index) => {
    const decision = draftFor(turn, { limits, listing }, heuristic, { broker, sharers: brokers.length - index });
    reasons.push(...decision.reasons);
  });
  state.standing = reasons;
}

function brokersInNeed(turn: Turn): KnownBroker[] {
  const { state } = turn;
  const inNeed = [...state.brokers.values()].filter((broker) => {
    const needed = broker.connectionId === 0 ? neededAlone(turn, broker) : wantedProcessors(turn, broker) ?? 0;
    return needed > runningProcessors(state, broker.brokerId) && unplacedTasks(turn, broker) !== 0;
  });
  const count = (broker: KnownBroker): number => requestsOf(state, broker.brokerId).filter(isPending).length;
  return inNeed.sort((one, other) => count(one) - count(other));
}

function findObstacle({ state, now }: Turn, inNeedCount: number): string | undefined {
  const { config, refusals, fruitless } = state;
  if (config.resourceKind === 'machines') return 'Machines attach by themselves; nothing is asked for.';
  if (state.drainReason !== '') return `Draining: ${state.drainReason}.`;
  if (inNeedCount === 0) return describeContentment(state);
  if (state.listingFailure !== '') return `The queue of the resource cannot be read: ${state.listingFailure}.`;
  if (state.limits === undefined) return 'The limits of the resource are not known yet.';
  if (state.listing === undefined) return 'The queue of the resource has not been read yet.';
  const failures = `failures in a row: ${refusals} refused, ${fruitless} ended without a machine`;
  if (now < state.pausedUntil) return `Paused for another ${describeTime(state.pausedUntil - now)}, after ${failures}.`;
  return undefined;
}

/** Why nobody is in need. */
function describeContentment(state: ProviderState): string {
  const wide = [...state.brokers.values()].find((broker) => isTooWide(state, broker));
  if (wide === undefined) return 'No broker wants more than what its allocations, and requests for more, have room for.';
  return `The tasks want ${wide.demand?.processors ?? 0} processors each, and the machines of an allocation have one each.`;
}

function draftFor(turn: Turn, { limits, listing }: Resource, heuristic: RequestHeuristic, { broker, sharers }: { broker: KnownBroker; sharers: number }): RequestDecision {
  const { state, now } = turn;
  // A deputy goes by what is left of the lease.
  const demand = broker.connectionId === 0 ? { pendingTasks: neededAlone(turn, broker), processors: 1, deadline: undefined, gangProcessors: 0 } : broker.demand;
  invariant(demand !== undefined, `broker ${broker.brokerId} is in need without a demand`);
  const held = [...state.requests.values()].filter(isPending);
  // Requests inside reservations hold slots, and nothing that the heuristic could go by.
  const pending = held.filter(({ reservation, heldFor }) => reservation === undefined && heldFor === undefined).map(pendingOf);
  const share = Math.ceil(Math.max(0, limits.requestsMax - held.length) / sharers);
  const decision = heuristic.draft({
    now, limits: { ...limits, requestsMax: pending.length + share }, listing: listingWithOwn(state, listing, now), pending, served: servedOf(state, broker),
    demand: { pendingTasks: demand.pendingTasks, unplacedTasks: unplacedTasks(turn, broker), processors: demand.processors, deadline: demand.deadline },
    taskTimes: observedTaskTimes(broker), taskTimesElsewhere: broker.demand?.taskTimes, isFirst: isFirstOf(state, broker),
    // What a heuristic wants withdrawn or released is not carried out here, so that it may want nothing of the kind.
    budget: { submissions: share, withdrawals: 0 },
    options: { ...state.config.heuristicOptions, defaultTime: heuristicInForce(state).defaultTime },
  });
  const drafts = widenForGang(decision.drafts, demand.gangProcessors ?? 0, { widthMax: limits.widthMax, pending });
  invariant(decision.drafts.length <= share, `${heuristic.name} drafted ${decision.drafts.length} requests for ${share} slots`);
  for (const draft of drafts) submitDraft(turn, broker, draft, decision.candidates);
  return decision;
}

function submitDraft(turn: Turn, broker: KnownBroker, draft: DraftedRequest, candidates: readonly RequestCandidate[] | undefined): void {
  const { state, now } = turn;
  const { userId } = state.config;
  const { heuristic } = heuristicInForce(state);
  const { width, walltime, reasons } = draft;
  const requestId = `q${state.nextRequestNumber}`;
  const compared = candidates === undefined ? {} : { candidates };
  commit(turn, { kind: 'RequestDrafted', requestId, brokerId: broker.brokerId, userId, width, walltime, heuristic, reasons, at: now, ...compared });
  commit(turn, { kind: 'RequestSubmitting', requestId, at: now });
  turn.commands.push({ kind: 'SubmitRequest', requestId, clientRequestId: clientRequestIdOf(state, requestId), userId, width, walltime });
}

function pendingOf({ requestId, width, walltime, status, startedAt }: OwnRequest): PendingRequest {
  invariant(status === 'submitting' || status === 'queued' || status === 'running', `request ${requestId} is ${status}, not submitted`);
  return { requestId, width, walltime, status, startedAt };
}

/** Whether nothing has been asked for since the broker began to want something; what was refused does not count. */
function isFirstOf(state: ProviderState, broker: KnownBroker): boolean {
  return !requestsOf(state, broker.brokerId).some((request) => isOfDemand(broker, request) && request.status !== 'rejected');
}

/** Requests that this demand made and that are over: an earlier one's tasks were others. */
function servedOf(state: ProviderState, broker: KnownBroker): ServedRequest[] {
  const served = requestsOf(state, broker.brokerId).filter((request) => isOfDemand(broker, request) && request.startedAt > 0 && request.endedAt > 0);
  return served.map(({ requestId, width, walltime, startedAt, endedAt, taskTime }) => ({ requestId, width, walltime, startedAt, endedAt, taskTime }));
}
