import { NodePlan, RequestPlan, type QueuePlan } from '../../queue/index.ts';
import {
  invariant,
  moveInstants,
  movedBy,
  unreachable,
  type Duration,
  type Instant,
  type ProcessorCount,
} from '../../shared/index.ts';
import type { ClusterChange } from './changes.ts';
import { addToPlan, countProcesses, placeInPlan, renewPlan } from './plan-requests.ts';
import { findRank } from './scores.ts';
import {
  getKey,
  getReservationBlock,
  type ClusterRequest,
  type ClusterReservation,
  type ClusterState,
} from './state.ts';

/** Makes one change to the state. Decides nothing; replay of the journal calls it alone. */
export function apply(state: ClusterState, change: ClusterChange): void {
  switch (change.kind) {
    case 'ClusterStarted':
      return beginLife(state, change);
    case 'ProcessorsAway':
      state.processorsAway = change.count;
      state.nodesAway = change.nodes ?? [];
      return;
    case 'ClockStepped':
      return followClock(state, change);
    case 'CapacityChanged':
      return changeCapacity(state, change);
    case 'RequestQueued':
      return addRequest(state, change);
    case 'RequestPlaced':
      return placeRequest(state, change);
    case 'RequestDisplaced':
      state.plan.place(change.requestId, undefined);
      losePlace(getRequest(state, change.requestId));
      return;
    case 'RequestStarted':
      return startRequest(state, getRequest(state, change.requestId), change);
    case 'ReservationsChanged':
      return changeReservations(state, change);
    case 'ReservationOpened':
      return openReservation(state, change);
    case 'ProcessExited': {
      const request = getRequest(state, change.requestId);
      request.livingProcesses.delete(change.processIndex);
      request.hasFailed ||= change.exitStatus !== 0;
      if (change.words !== undefined) request.lastWords ??= change.words;
      return;
    }
    case 'RequestEnding': {
      const request = getRequest(state, change.requestId);
      request.status = 'ending';
      request.endReason = change.reason;
      return;
    }
    case 'RequestEnded':
      return endRequest(state, change);
    case 'ScoreChanged': {
      const { userId, score, countedCount, precisionMean } = change;
      state.scores.set(userId, { score, countedCount, precisionMean });
      return;
    }
    default:
      return unreachable(change);
  }
}

/** @throws {InvariantError} when it is not remembered. */
export function getRequest(state: ClusterState, requestId: number): ClusterRequest {
  const request = state.requests.get(requestId);
  invariant(request !== undefined, `request ${requestId} is not known`);
  return request;
}

function beginLife(
  state: ClusterState,
  { processors, at, away = 0, nodes, nodesAway = [] }: ClusterChange & { kind: 'ClusterStarted' },
): void {
  invariant(state.processorsBusy === 0, `${state.processorsBusy} processors are busy at the start`);
  state.processorsAway = away;
  state.nodesAway = nodesAway;
  fillPlan(state, nodes === undefined ? new RequestPlan(processors, at) : new NodePlan(nodes, nodesAway, at));
}

function changeCapacity(
  state: ClusterState,
  { processors, at }: { readonly processors: ProcessorCount; readonly at: Instant },
  startsMovedBy: Duration = 0,
): void {
  fillPlan(state, renewPlan(state, processors, at), startsMovedBy);
}

/** Running requests keep their places in the new plan; waiting ones have none. */
function fillPlan(state: ClusterState, plan: QueuePlan, startsMovedBy: Duration = 0): void {
  const { running, waiting } = state.plan;
  state.plan = plan;
  for (const { id, startsAt } of running.values()) {
    invariant(startsAt !== undefined, `request ${id} runs without a place`);
    const request = getRequest(state, id);
    addToPlan(plan, request);
    placeInPlan(plan, id, movedBy(startsAt, startsMovedBy), request.parts);
    plan.start(id);
  }
  blockReservations(state);
  for (const { id } of waiting.values()) {
    const request = getRequest(state, id);
    losePlace(request);
    addToPlan(plan, request, findRank(state, request));
  }
}

/** A cluster of nodes has no reservations. */
export function blockReservations({ plan, reservations }: ClusterState): void {
  if (plan.kind === 'nodes') return;
  for (const reservation of reservations.values()) plan.blockReservation(getReservationBlock(reservation));
}

function losePlace(request: ClusterRequest): void {
  request.startsAt = undefined;
  delete request.parts;
}

function placeRequest(
  state: ClusterState,
  { requestId, startsAt, parts }: ClusterChange & { kind: 'RequestPlaced' },
): void {
  placeInPlan(state.plan, requestId, startsAt, parts);
  const request = getRequest(state, requestId);
  request.startsAt = startsAt;
  if (parts !== undefined) request.parts = parts;
}

function followClock(state: ClusterState, { by, at }: ClusterChange & { kind: 'ClockStepped' }): void {
  for (const request of state.requests.values()) {
    if (request.status !== 'ended') moveInstants(request, ['submittedAt', 'startsAt'], by);
  }
  changeCapacity(state, { processors: state.plan.capacity, at }, by);
}

function changeReservations(
  state: ClusterState,
  { removedIds, reported, at }: ClusterChange & { kind: 'ReservationsChanged' },
): void {
  const { reservations, plan } = state;
  plan.forget(at);
  for (const id of removedIds) reservations.delete(id);
  if (plan.kind === 'nodes') return;
  for (const id of removedIds) plan.unblockReservation(id);
  let isPlanGood = true;
  for (const reservation of reported) {
    const isNew = fileReservation(state, reservation);
    isPlanGood &&= isNew && plan.fitsWall(getReservationBlock(reservation));
    if (isPlanGood) plan.blockReservation(getReservationBlock(reservation));
  }
  if (!isPlanGood) changeCapacity(state, { processors: plan.capacity, at });
}

/** Returns whether it was not known. */
function fileReservation({ reservations }: ClusterState, reservation: ClusterReservation): boolean {
  const { reservationId, reportedAt } = reservation;
  const before = reservations.get(reservationId);
  // A reservation that grew comes behind those that were reported before that.
  if (before?.reportedAt !== reportedAt) reservations.delete(reservationId);
  reservations.set(reservationId, { ...reservation });
  return before === undefined;
}

function openReservation(
  { reservations }: ClusterState,
  { reservationId, at }: ClusterChange & { kind: 'ReservationOpened' },
): void {
  const reservation = reservations.get(reservationId);
  invariant(reservation !== undefined, `reservation ${reservationId} is not known`);
  reservations.set(reservationId, { ...reservation, openedAt: at });
}

function addRequest(
  state: ClusterState,
  { requestId, order, at, score }: ClusterChange & { kind: 'RequestQueued' },
): void {
  const request: ClusterRequest = {
    id: requestId,
    order,
    submittedAt: at,
    status: 'queued',
    startsAt: undefined,
    endedAt: 0,
    endReason: '',
    livingProcesses: new Set(),
    hasFailed: false,
    ...(score === undefined ? {} : { score }),
  };
  state.requests.set(requestId, request);
  if (order.clientRequestId !== '') state.requestsByKey.set(getKey(order.userId, order.clientRequestId), request);
  state.livingCounts.set(order.userId, (state.livingCounts.get(order.userId) ?? 0) + 1);
  state.nextRequestId = requestId + 1;
  state.plan.forget(at);
  if (order.reservationId === undefined) addToPlan(state.plan, request, findRank(state, request));
  else state.insideIds.add(requestId);
}

function startRequest(
  state: ClusterState,
  request: ClusterRequest,
  { startsAt, grants }: ClusterChange & { kind: 'RequestStarted' },
): void {
  if (startsAt === undefined) state.plan.start(request.id);
  else request.startsAt = startsAt;
  request.status = 'running';
  if (grants !== undefined) request.grants = grants;
  for (let index = 0; index < countProcesses(request); index += 1) request.livingProcesses.add(index);
  state.processorsBusy += request.order.width;
}

function endRequest(state: ClusterState, { requestId, reason, at }: ClusterChange & { kind: 'RequestEnded' }): void {
  const request = getRequest(state, requestId);
  if (!state.insideIds.delete(requestId)) state.plan.end(requestId, at);
  state.plan.forget(at);
  if (request.status !== 'queued') state.processorsBusy -= request.order.width;
  request.status = 'ended';
  request.endedAt = at;
  request.endReason = reason;
  request.livingProcesses.clear();
  delete request.parts;
  delete request.grants;
  const left = (state.livingCounts.get(request.order.userId) ?? 0) - 1;
  if (left > 0) state.livingCounts.set(request.order.userId, left);
  else state.livingCounts.delete(request.order.userId);
  state.endedIds.push(requestId);
  while (state.endedIds.length > state.options.endedMax) forgetRequest(state, state.endedIds.shift() as number);
}

function forgetRequest(state: ClusterState, requestId: number): void {
  const { order } = getRequest(state, requestId);
  state.requests.delete(requestId);
  const key = getKey(order.userId, order.clientRequestId);
  if (state.requestsByKey.get(key)?.id === requestId) state.requestsByKey.delete(key);
}
