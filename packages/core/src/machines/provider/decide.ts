import type { RequestDecision, RequestHeuristic } from '../../requests/index.ts';
import type { Reason } from '../../reasons/index.ts';
import { invariant } from '../../shared/index.ts';
import { askWatching } from './ask-watching.ts';
import {
  isTooWide,
  lacksProcessors,
  lacksLanes,
  neededAlone,
  getRequests,
  runningProcessors,
  unplacedTasks,
  wantedProcessors,
} from './brokers.ts';
import { getDemand, listFacts, getPending, type Resource } from './decision-facts.ts';
import { findWants } from './decide-reserved.ts';
import { explainNoWork, releasesRunning, takesNoWork } from './draining.ts';
import { boundFirstRequests, describeFirstBound, explainFirstRequests } from './first-requests.ts';
import { decidingHeuristic } from './heuristic.ts';
import { noteDecision } from './note-decision.ts';
import { credentialEnd, isPending, isServing, type KnownBroker, type OwnRequest, type ProviderState } from './state.ts';
import { explainMisfit, limitsInSlots, servesSlot, slotFor } from './slots.ts';
import { submitDraft } from './submit-draft.ts';
import { releaseRequest } from './submission.ts';
import type { Turn } from './turn.ts';
import { widenForGang } from './widen-for-gang.ts';

/**
 * Gives back what no broker has needed for the idle time. A queued request that is withdrawn as soon as running ones do
 * is asked for again
 * when the next few tasks come, and begins at the end of the queue.
 */
export function releaseSurplus(turn: Turn): void {
  const { state, now } = turn;
  if (takesNoWork(state)) giveBack(turn);
  if (state.listingFailure !== '') releaseOverdue(turn);
  for (const broker of state.brokers.values()) {
    const { idleSince, coveredSince } = broker;
    if (coveredSince > 0 && now >= coveredSince + state.config.idleRelease) withdrawQueued(turn, broker);
    if (idleSince > 0 && now >= idleSince + state.config.idleRelease) releaseRunning(turn, broker);
  }
}

/**
 * While the manager cannot be asked: an allocation whose walltime is long over has no agents any more, only people with
 * its credential.
 */
function releaseOverdue(turn: Turn): void {
  for (const request of turn.state.requests.values()) {
    if (request.status !== 'running' || !isServing(request) || turn.now < credentialEnd(turn.state, request)) continue;
    releaseRequest(turn, request, { code: 'released-overdue' });
  }
}

function withdrawQueued(turn: Turn, broker: KnownBroker): void {
  const wanted = wantedProcessors(turn, broker) ?? 0;
  const coveredMs = turn.now - broker.coveredSince;
  const reason: Reason =
    wanted === 0
      ? { code: 'withdrawn-covered-no-tasks', coveredMs }
      : {
          code: 'withdrawn-covered',
          coveredMs,
          runningProcessors: runningProcessors(turn.state, broker.brokerId),
          wantedProcessors: wanted,
        };
  for (const request of getRequests(turn.state, broker.brokerId)) {
    if (request.status === 'queued' && isServing(request)) releaseRequest(turn, request, reason);
  }
}

function releaseRunning(turn: Turn, broker: KnownBroker): void {
  for (const request of getRequests(turn.state, broker.brokerId)) {
    if (request.status !== 'running' || !isServing(request)) continue;
    releaseRequest(turn, request, { code: 'released-no-demand', idleMs: turn.now - broker.idleSince });
  }
}

/**
 * While the provider takes no work: withdraws requests that wait, and releases allocations that are held ahead and that
 * no broker has, since nothing will be placed
 * on them; also the others where everything is given back. Those run on until they have become idle.
 */
function giveBack(turn: Turn): void {
  const { state } = turn;
  for (const request of state.requests.values()) {
    if (!isServing(request)) continue;
    if (request.status === 'queued') releaseRequest(turn, request, explainNoWork(state, 'withdrawn'));
    else if (request.status === 'running' && (releasesRunning(state) || isHeldForNothing(turn, request)))
      releaseRequest(turn, request, explainNoWork(state, 'released'), { code: 'MUT_DRAINING' });
  }
}

/**
 * Asks the heuristic for requests, for each broker whose demand is not covered by running allocations.
 *
 * The free slots are shared evenly among such brokers, those with the fewest pending requests first. A heuristic that
 * watches the queue decides at each trigger, even if present requests cover all demand: it may know a better place.
 */
export function draftRequests(turn: Turn): void {
  const { state } = turn;
  const heuristic = decidingHeuristic(state);
  const isWatching = heuristic.decidesAt === 'queue events';
  const brokers = brokersInNeed(turn, isWatching);
  const obstacle = findObstacle(turn, brokers.length, isWatching);
  if (obstacle !== undefined) {
    state.resourceStatus = obstacle;
    return;
  }
  const { limits, listing } = state;
  if (limits === undefined || listing === undefined) return;
  if (isWatching) {
    state.resourceStatus = askWatching(turn, { limits, listing }, heuristic, brokers);
    return;
  }
  const reasons: Reason[] = [];
  brokers.forEach((broker, index) => {
    const decision = draftFor(turn, { limits, listing }, heuristic, { broker, sharers: brokers.length - index });
    reasons.push(...decision.reasons);
  });
  state.resourceStatus = reasons;
}

function brokersInNeed(turn: Turn, isWatching: boolean): KnownBroker[] {
  const { state } = turn;
  const inNeed = [...state.brokers.values()].filter((broker) => {
    const lacks =
      broker.connectionId === 0
        ? neededAlone(turn, broker) > runningProcessors(state, broker.brokerId) || lacksLanes(turn, broker)
        : lacksProcessors(turn, broker);
    return lacks && (isWatching || unplacedTasks(turn, broker) !== 0);
  });
  const count = (broker: KnownBroker): number => getRequests(state, broker.brokerId).filter(isPending).length;
  return inNeed.sort((one, other) => count(one) - count(other));
}

/** Why nothing is requested now, the deciding reason first; undefined where something may be. */
function findObstacle({ state, now }: Turn, inNeedCount: number, isWatching: boolean): Reason[] | undefined {
  const { config, refusals, emptyAllocationStreak } = state;
  if (config.resourceKind === 'machines') return [{ code: 'machines-attach' }];
  if (takesNoWork(state)) return [explainNoWork(state, 'provider')];
  if (inNeedCount === 0) return [describeContentment(state)];
  // One that watches can go by what was known, and says so.
  if (state.listingFailure !== '' && !isWatching) return [{ code: 'queue-unreadable', trouble: state.listingFailure }];
  if (state.limits === undefined) return [{ code: 'limits-unknown' }];
  if (state.listing === undefined) return [{ code: 'queue-not-read' }];
  if (now >= state.pausedUntil) return undefined;
  const pauseMs = state.pausedUntil - now;
  return [
    {
      code: 'requests-paused',
      pauseMs,
      refusedRequests: refusals,
      emptyAllocationStreakRequests: emptyAllocationStreak,
    },
    ...describeLastFailure(state),
  ];
}

/**
 * The outcome of the last failed request: the words of the manager, and of the agents if the manager passes them on.
 */
function describeLastFailure({ requests }: ProviderState): Reason[] {
  const failed = [...requests.values()].filter(
    ({ endedAt, releaseReason, taskTime }) => endedAt > 0 && releaseReason === undefined && taskTime === 0,
  );
  const last = failed.at(-1);
  return last === undefined
    ? []
    : [{ code: 'last-failed-request', requestId: last.requestId }, ...last.reasons.slice(-1)];
}

/** Whether an allocation is held for a reservation without demand: nothing will be placed on it. */
function isHeldForNothing(turn: Turn, { heldFor, reservation, brokerId }: OwnRequest): boolean {
  if (heldFor === undefined) return false;
  const wants = reservation === undefined ? [] : findWants(turn, turn.state.brokers.get(brokerId));
  return wants !== undefined && !wants.some(({ claim }) => claim === reservation?.claim);
}

/** Why no broker is in need. */
function describeContentment(state: ProviderState): Reason {
  const wide = [...state.brokers.values()].find((broker) => isTooWide(state, broker));
  return wide === undefined
    ? { code: 'demand-covered' }
    : explainMisfit(wide.demand ?? { processors: 0 }, state.limits);
}

function draftFor(
  turn: Turn,
  resource: Resource,
  heuristic: RequestHeuristic,
  { broker, sharers }: { broker: KnownBroker; sharers: number },
): RequestDecision {
  const { state } = turn;
  const demand = getDemand(turn, broker);
  const slot = slotFor(demand, resource.limits);
  const limits = limitsInSlots(resource.limits, slot);
  const held = [...state.requests.values()].filter(isPending);
  // Requests inside reservations, and those of another shape, hold slots, and nothing that the heuristic could go by.
  const pending = held
    .filter(({ reservation, heldFor }) => reservation === undefined && heldFor === undefined)
    .filter((request) => servesSlot(request, slot))
    .map(getPending);
  const share = Math.ceil(Math.max(0, limits.requestsMax - held.length) / sharers);
  const known = listFacts(turn, resource, broker);
  const facts = {
    ...known,
    limits: { ...limits, requestsMax: pending.length + share },
    pending,
    demand: { ...known.demand, unplacedTasks: unplacedTasks(turn, broker) },
  };
  const bound = boundFirstRequests(state, heuristic, broker, facts);
  const decision = heuristic.draft(bound?.facts ?? facts);
  noteDecision(turn, heuristic, decision);
  const drafts = widenForGang(decision.drafts, demand.gangProcessors ?? 0, { widthMax: limits.widthMax, pending });
  invariant(
    decision.drafts.length <= share,
    `${heuristic.name} drafted ${decision.drafts.length} requests for ${share} slots`,
  );
  for (const draft of explainFirstRequests(bound, drafts))
    submitDraft(turn, broker, draft, { slot, candidates: decision.candidates });
  return { ...decision, reasons: [...describeFirstBound(bound), ...decision.reasons] };
}
