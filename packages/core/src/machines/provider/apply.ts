import { nameReservation } from '../../messages/index.ts';
import { joinGroups, type TaskGroup } from '../../requests/index.ts';
import {
  dispatch,
  invariant,
  moveInstants,
  movedBy,
  type Duration,
  type Instant,
  type HandlersByKind,
} from '../../shared/index.ts';
import type { ProviderChange } from './changes.ts';
import { noteSubmission, noteWithdrawal, setClockBack } from './asked-lately.ts';
import {
  forgetReports,
  keepReport,
  returnLeased,
  setStandby,
  startLeased,
  takeLease,
  revokeLease,
} from './apply-lease.ts';
import {
  createBroker,
  createMachine,
  isOfDemand,
  isPending,
  nothingMeasured,
  type KnownBroker,
  type MeasuredTimes,
  type OwnRequest,
  type OwnWait,
  type ProvidedMachine,
  type ProviderState,
} from './state.ts';

const promisedOfRequest = [
  'submittedAt',
  'startedAt',
  'promisedStart',
] as const satisfies readonly (keyof OwnRequest)[];

const appliers: HandlersByKind<ProviderState, ProviderChange> = {
  ProviderFounded: (state, change) => {
    state.instance = change.instance;
  },
  LimitsChanged: (state, change) => {
    state.limits = change.limits;
    state.requestsMaxSeen = Math.max(state.requestsMaxSeen, change.limits.requestsMax);
  },
  BrokerKnown: (state, change) => {
    addBroker(state, change.brokerId, change.at);
  },
  InstanceKnown: (state, change) => {
    getBroker(state, change.brokerId).instance = change.instance;
  },
  BrokerReplaced: (state, change) => {
    replaceBroker(state, change.brokerId, change.instance);
  },
  MachineCleared: (state, change) => {
    getMachine(state, change.machineId).isForeign = false;
  },
  RequestDrafted: addRequest,
  RequestSubmitting: (state, change) => {
    getRequest(state, change.requestId).status = 'submitting';
  },
  RequestQueued: queueRequest,
  RequestStarted: startRequest,
  RequestRequeued: requeueRequest,
  RequestMoved: moveRequest,
  RequestReleasing: releaseRequest,
  RequestPromised: (state, change) => {
    getRequest(state, change.requestId).promisedStart = change.startsAt;
  },
  TasksCutOff: (state, change) => {
    cutOffTasks(getBroker(state, change.brokerId), change.groups);
  },
  ClockSetBack: (state, change) => {
    setClockBack(state, change.at);
  },
  ClockStepped: (state, change) => {
    movePromised(state, change.by);
  },
  RequestEnded: endRequest,
  MachineJoined: addMachine,
  MachineAssigned: (state, change) => {
    getMachine(state, change.machineId).brokerId = change.brokerId;
  },
  MachineLost: (state, change) => {
    state.machines.delete(change.machineId);
  },
  TasksMeasured: addTaskTimes,
  DemandBegan: (state, change) => {
    beginDemand(state, change.brokerId);
  },
  DemandEnded: (state, change) => {
    getBroker(state, change.brokerId).demandFrom = 0;
  },
  HeuristicSwitched: (state, change) => {
    state.switched = { to: change.to, over: change.over };
  },
  HeuristicSwitchForgotten: (state) => {
    state.switched = undefined;
  },
  LeaseTaken: takeLease,
  LeaseStarted: startLeased,
  LeaseRevoked: revokeLease,
  LeaseReturned: returnLeased,
  StandbyBegan: (state, change) => {
    setStandby(state, change.brokerId, change.at);
  },
  StandbyEnded: (state, change) => {
    setStandby(state, change.brokerId, 0);
  },
  ReportSpooled: keepReport,
  ReportsForgotten: forgetReports,
  WindowsChanged: (state, change) => {
    state.windows = new Map(change.windows.map((window) => [window.reservationId, window]));
  },
  HeldGiven: giveHeld,
  HeldShortened: shortenHeld,
  HeldMoved: moveHeld,
  DrainingBegan: (state, change) => {
    state.draining = {
      since: change.since,
      reason: change.reason,
      ...(change.isAtOnce === true ? { isAtOnce: true } : {}),
    };
  },
  DrainingEnded: (state) => {
    state.draining = undefined;
  },
  RefusalsForgotten: (state) => {
    forgetRefusals(state);
  },
};

/** Makes one change to what the provider promised; step and replay share it. Never decides. */
export function apply(state: ProviderState, change: ProviderChange): void {
  dispatch(appliers, state, change);
}

function getRequest(state: ProviderState, requestId: string): OwnRequest {
  const request = state.requests.get(requestId);
  invariant(request !== undefined, `a change of request ${requestId}, which is not known`);
  return request;
}

function getMachine(state: ProviderState, machineId: string): ProvidedMachine {
  const machine = state.machines.get(machineId);
  invariant(machine !== undefined, `a change of machine ${machineId}, which is not known`);
  return machine;
}

function getBroker(state: ProviderState, brokerId: string): KnownBroker {
  const broker = state.brokers.get(brokerId);
  invariant(broker !== undefined, `a change of broker ${brokerId}, which is not known`);
  return broker;
}

function addBroker(state: ProviderState, brokerId: string, at: Instant): void {
  state.brokers.set(brokerId, createBroker(brokerId, at));
}

function replaceBroker(state: ProviderState, brokerId: string, instance: string): void {
  const broker = getBroker(state, brokerId);
  broker.instance = instance;
  broker.lease = undefined;
  for (const machine of state.machines.values()) if (machine.brokerId === brokerId) machine.isForeign = true;
  for (const request of state.requests.values()) if (request.brokerId === brokerId) request.isForeign = true;
}

function beginDemand(state: ProviderState, brokerId: string): void {
  const broker = getBroker(state, brokerId);
  broker.demandFrom = state.nextRequestNumber;
  broker.taskTimes = nothingMeasured;
  broker.cutOff = [];
}

function addRequest(state: ProviderState, change: ProviderChange & { kind: 'RequestDrafted' }): void {
  const { requestId, brokerId, userId, width, walltime, heuristic, reasons, candidates, reservation, heldFor, at } =
    change;
  const { slot } = change;
  state.nextRequestNumber += 1;
  if (heuristic !== '') noteSubmission(state, at);
  state.requests.set(requestId, {
    requestId,
    brokerId,
    userId,
    width,
    walltime,
    heuristic,
    reasons,
    candidates,
    status: 'drafted',
    managerRequestId: '',
    submittedAt: 0,
    startedAt: 0,
    endedAt: 0,
    hasServed: false,
    taskTime: 0,
    seenAt: at,
    unknownSince: 0,
    missedListings: 0,
    releaseAskedAt: 0,
    ...(slot === undefined ? {} : { slot }),
    ...(reservation === undefined ? {} : { reservation }),
    ...(heldFor === undefined ? {} : { heldFor }),
  });
}

function queueRequest(state: ProviderState, change: ProviderChange & { kind: 'RequestQueued' }): void {
  const request = getRequest(state, change.requestId);
  request.status = 'queued';
  request.managerRequestId = change.managerRequestId;
  request.submittedAt = change.at;
  request.seenAt = change.at;
  request.endedAt = 0;
  request.unknownSince = 0;
  request.missedListings = 0;
  state.refusals = 0;
}

function startRequest(state: ProviderState, change: ProviderChange & { kind: 'RequestStarted' }): void {
  const request = getRequest(state, change.requestId);
  if (request.status === 'queued' && request.reservation === undefined)
    noteWait(state, waitOf(request, change.startedAt));
  request.status = 'running';
  request.startedAt = change.startedAt;
  request.seenAt = change.at;
}

/** It waits again from now on; what the queue promised before says nothing of that. */
function requeueRequest(state: ProviderState, change: ProviderChange & { kind: 'RequestRequeued' }): void {
  const request = getRequest(state, change.requestId);
  request.status = 'queued';
  request.submittedAt = change.at;
  request.startedAt = 0;
  request.seenAt = change.at;
  request.reasons = [...request.reasons, change.reason];
  delete request.waitingListings;
  delete request.promisedStart;
}

function waitOf({ width, walltime, submittedAt, promisedStart }: OwnRequest, startedAt: Instant): OwnWait {
  const wait = Math.max(0, startedAt - submittedAt);
  return promisedStart === undefined
    ? { width, wait }
    : { width, wait, walltime, promised: Math.max(0, promisedStart - submittedAt) };
}

/** Waits that are remembered. */
const waitsMax = 200;

function noteWait({ waits }: ProviderState, wait: ProviderState['waits'][number]): void {
  waits.push(wait);
  if (waits.length > waitsMax) waits.shift();
}

function giveHeld(
  state: ProviderState,
  { requestId, brokerId, reservation }: ProviderChange & { kind: 'HeldGiven' },
): void {
  const request = getRequest(state, requestId);
  request.brokerId = brokerId;
  request.reservation = reservation;
  for (const machine of state.machines.values()) {
    if (machine.facts.requestId !== requestId) continue;
    machine.brokerId = brokerId;
    const endsAt = request.heldFor?.endsAt ?? reservation.endsAt;
    machine.facts = {
      ...machine.facts,
      until: Math.min(request.startedAt + request.walltime, endsAt),
      reservation: nameReservation(reservation),
    };
  }
}

function shortenHeld(state: ProviderState, { requestId, endsAt }: ProviderChange & { kind: 'HeldShortened' }): void {
  const request = getRequest(state, requestId);
  invariant(
    request.heldFor !== undefined,
    `the hold of request ${requestId} gets shorter, and it is held for no reservation`,
  );
  request.heldFor = { ...request.heldFor, endsAt };
  request.isShortened = true;
  for (const machine of state.machines.values()) {
    const { facts } = machine;
    if (facts.requestId === requestId) machine.facts = { ...facts, until: Math.min(facts.until ?? Infinity, endsAt) };
  }
}

function moveHeld(state: ProviderState, { requestId, window }: ProviderChange & { kind: 'HeldMoved' }): void {
  const request = getRequest(state, requestId);
  const { heldFor, startedAt, walltime } = request;
  invariant(
    heldFor?.reservationId === window.reservationId,
    `request ${requestId} should be held for reservation ${window.reservationId}, and is held for ` +
      `${heldFor?.reservationId ?? 'none'}`,
  );
  if (window.endsAt < heldFor.endsAt) request.isShortened = true;
  else delete request.isShortened;
  request.heldFor = window;
  for (const machine of state.machines.values()) {
    const { facts } = machine;
    if (facts.requestId === requestId)
      machine.facts = { ...facts, until: Math.min(startedAt + walltime, window.endsAt) };
  }
}

function moveRequest(
  state: ProviderState,
  { requestId, startsAt, endsAt, amount }: ProviderChange & { kind: 'RequestMoved' },
): void {
  const request = getRequest(state, requestId);
  invariant(request.reservation !== undefined, `request ${requestId} moves with a reservation, and is inside none`);
  request.reservation = { ...request.reservation, startsAt, endsAt, amount: amount ?? request.reservation.amount };
  request.hasMoved = true;
}

function releaseRequest(state: ProviderState, change: ProviderChange & { kind: 'RequestReleasing' }): void {
  const request = getRequest(state, change.requestId);
  const [reason] = change.reasons;
  if (reason !== undefined) request.releaseReason = reason;
  if (change.isUnused === true) request.unusedAt = change.at;
  if (change.isGivenUp === true) noteWithdrawal(state, change.at);
  request.reasons = [...request.reasons, ...change.reasons];
}

function endRequest(state: ProviderState, change: ProviderChange & { kind: 'RequestEnded' }): void {
  const request = getRequest(state, change.requestId);
  request.status = change.status;
  request.endedAt = change.endedAt;
  request.seenAt = change.at;
  request.unknownSince = 0;
  request.reasons = [...request.reasons, change.reason];
  if (change.overCode !== undefined) request.overCode = change.overCode;
  if (change.endCode !== undefined) request.endCode = change.endCode;
  if (request.reservation === undefined && request.heldFor === undefined) pauseAfter(state, request, change);
  forgetOldRequests(state);
}

/** A refusal inside a reservation says nothing about requests outside reservations. */
function pauseAfter(
  state: ProviderState,
  request: OwnRequest,
  change: ProviderChange & { kind: 'RequestEnded' },
): void {
  // A full disk at the manager: asked again at a steady pace, and not counted among what makes asking hopeless.
  if (change.isPassing === true)
    state.pausedUntil = Math.max(
      state.pausedUntil,
      change.at + Math.min(state.config.refusalPause, state.config.refusalPauseMax),
    );
  else if (change.status === 'rejected')
    pauseAsking(state, change.at, () => {
      state.refusals += 1;
    });
  else if (request.releaseReason === undefined) noteUse(state, request, change.at);
}

/** An allocation of which no task has ended, and that ended sooner than this, had agents that could not work. */
const agentLifeMin: Duration = 60_000;
/** This many in a row are not an accident, as a single preemption is. */
const barrenMax = 3;

/** Counts an allocation that ended by itself: no agent attached, or all of them died at once, or it was of use. */
function noteUse(
  state: ProviderState,
  { hasServed, taskTime, startedAt, endedAt, walltime }: OwnRequest,
  at: Instant,
): void {
  const isBarren = hasServed && taskTime === 0 && endedAt - startedAt < Math.min(agentLifeMin, walltime);
  if (isBarren) state.barren += 1;
  else if (hasServed) state.barren = 0;
  if (!hasServed || state.barren >= barrenMax)
    pauseAsking(state, at, () => {
      state.emptyAllocationStreak += 1;
    });
}

function pauseAsking(state: ProviderState, at: Instant, count: () => void): void {
  const { refusalPause, refusalPauseMax, refusalsMax, probeInterval } = state.config;
  const before = state.refusals + state.emptyAllocationStreak;
  count();
  const isHopeless = state.refusals + state.emptyAllocationStreak >= refusalsMax;
  state.pausedUntil =
    at + (isHopeless ? probeInterval : Math.min(refusalPauseMax, refusalPause * 2 ** Math.min(before, 30)));
}

function forgetRefusals(state: ProviderState): void {
  state.refusals = 0;
  state.emptyAllocationStreak = 0;
  state.barren = 0;
  state.pausedUntil = 0;
}

function forgetOldRequests(state: ProviderState): void {
  const ended = [...state.requests.values()].filter((request) => request.endedAt > 0);
  const surplus = Math.max(0, ended.length - state.config.endedRequestsMax);
  for (const { requestId } of ended.slice(0, surplus)) state.requests.delete(requestId);
}

function addMachine(state: ProviderState, change: ProviderChange & { kind: 'MachineJoined' }): void {
  const { facts, brokerId } = change;
  const seen = state.machines.get(facts.machineId);
  if (seen === undefined) {
    state.machines.set(facts.machineId, createMachine(facts, brokerId, change.at));
  } else {
    seen.facts = facts;
    seen.brokerId = brokerId;
  }
  const request = state.requests.get(facts.requestId);
  if (request === undefined) return;
  // One that was lost before, and is back, may hold what it held then.
  if (request.isForeign === true) getMachine(state, facts.machineId).isForeign = true;
  request.hasServed = true;
  if (state.barren < barrenMax) state.emptyAllocationStreak = 0;
}

function addTaskTimes(state: ProviderState, change: ProviderChange & { kind: 'TasksMeasured' }): void {
  state.taskTimes = addTimes(state.taskTimes, change);
  const request = state.requests.get(change.requestId);
  if (request === undefined) return;
  request.taskTime += change.total;
  state.emptyAllocationStreak = 0;
  state.barren = 0;
  if (request.brokerId === '') return;
  const broker = getBroker(state, request.brokerId);
  if (isOfDemand(broker, request)) broker.taskTimes = addTimes(broker.taskTimes, change);
}

function addTimes(known: MeasuredTimes, more: MeasuredTimes): MeasuredTimes {
  const { longest, total, count } = known;
  return {
    longest: Math.max(longest, more.longest),
    total: total + more.total,
    count: count + more.count,
    ...addSpread(known, more),
  };
}

/** Nothing is known of the spread of all where it is not of some. */
function addSpread(known: MeasuredTimes, more: MeasuredTimes): Pick<MeasuredTimes, 'shortest' | 'squares'> {
  const { shortest = Infinity, squares = 0 } = known;
  if (more.shortest === undefined || more.squares === undefined || (known.count > 0 && known.shortest === undefined))
    return {};
  return { shortest: Math.min(shortest, more.shortest), squares: squares + more.squares };
}

function cutOffTasks(broker: KnownBroker, groups: readonly TaskGroup[]): void {
  broker.cutOff = joinGroups([...broker.cutOff, ...groups].sort((one, other) => other.time - one.time));
}

/** Moves what the journal keeps along with the clock. */
function movePromised(state: ProviderState, by: Duration): void {
  moveInstants(state, ['pausedUntil'], by);
  state.asked.submissions = state.asked.submissions.map((at) => movedBy(at, by));
  state.asked.withdrawals = state.asked.withdrawals.map((at) => movedBy(at, by));
  for (const broker of state.brokers.values()) moveInstants(broker, ['standbySince'], by);
  for (const request of state.requests.values()) if (isPending(request)) moveInstants(request, promisedOfRequest, by);
}
