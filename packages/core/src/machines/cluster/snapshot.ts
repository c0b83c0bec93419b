import { NodePlan, RequestPlan, type ClusterNode, type QueuePlan, type UserScore } from '../../queue/index.ts';
import type { Instant, ProcessorCount, UserId } from '../../shared/index.ts';
import { blockReservations } from './apply.ts';
import { addToPlan, placeInPlan } from './plan-requests.ts';
import { findRank } from './scores.ts';
import {
  createClusterState,
  getKey,
  type ClusterOptions,
  type ClusterRequest,
  type ClusterReservation,
  type ClusterState,
} from './state.ts';

/** A request as a snapshot holds it. */
export type RequestSnapshot = Omit<ClusterRequest, 'livingProcesses' | 'startsAt'> & {
  readonly livingProcesses: readonly number[];
  readonly startsAt: Instant | null;
};

/** All of a cluster's state that its journal promises, as plain values. */
export interface ClusterSnapshot {
  readonly capacity: ProcessorCount;
  readonly from: Instant;
  readonly nextRequestId: number;
  /** In the order of arrival. */
  readonly requests: readonly RequestSnapshot[];
  /** In the order in which they started. */
  readonly runningIds: readonly number[];
  readonly endedIds: readonly number[];
  /** Left out where none are. */
  readonly processorsAway?: ProcessorCount;
  /** Left out in a cluster of processors. */
  readonly nodes?: readonly ClusterNode[];
  readonly nodesAway?: readonly number[];
  /** In the order in which they were reported; left out if there are none. */
  readonly reservations?: readonly ClusterReservation[];
  /** Left out where no user has one. */
  readonly scores?: readonly (readonly [UserId, UserScore])[];
}

/** Describes a state. Cost: O(requests). */
export function takeSnapshot(state: ClusterState): ClusterSnapshot {
  const { capacity, from, running } = state.plan;
  return {
    capacity,
    from,
    nextRequestId: state.nextRequestId,
    runningIds: [...running.keys()],
    endedIds: [...state.endedIds],
    ...(state.processorsAway > 0 ? { processorsAway: state.processorsAway } : {}),
    ...(state.plan.kind === 'nodes' ? { nodes: state.plan.nodes, nodesAway: state.nodesAway } : {}),
    ...(state.reservations.size > 0 ? { reservations: [...state.reservations.values()] } : {}),
    ...(state.scores.size > 0 ? { scores: [...state.scores] } : {}),
    requests: [...state.requests.values()].map((request) => ({
      ...request,
      livingProcesses: [...request.livingProcesses],
      startsAt: request.startsAt ?? null,
    })),
  };
}

/** Makes the state that a snapshot describes. Cost: O(requests x segments). */
export function restoreSnapshot(options: ClusterOptions, snapshot: ClusterSnapshot): ClusterState {
  const state = createClusterState(options);
  state.nodesAway = snapshot.nodesAway ?? [];
  state.plan = makePlan(snapshot);
  state.nextRequestId = snapshot.nextRequestId;
  state.processorsAway = snapshot.processorsAway ?? 0;
  state.endedIds.push(...snapshot.endedIds);
  for (const [userId, score] of snapshot.scores ?? []) state.scores.set(userId, score);
  for (const taken of snapshot.requests) addRequest(state, taken);
  for (const id of snapshot.runningIds) {
    placeRequest(state, id);
    state.plan.start(id);
  }
  for (const reservation of snapshot.reservations ?? []) state.reservations.set(reservation.reservationId, reservation);
  blockReservations(state);
  for (const id of state.plan.waiting.keys()) placeRequest(state, id);
  return state;
}

function makePlan({ capacity, from, nodes, nodesAway = [] }: ClusterSnapshot): QueuePlan {
  return nodes === undefined ? new RequestPlan(capacity, from) : new NodePlan(nodes, nodesAway, from);
}

function addRequest(state: ClusterState, taken: RequestSnapshot): void {
  const request: ClusterRequest = {
    ...taken,
    livingProcesses: new Set(taken.livingProcesses),
    startsAt: taken.startsAt ?? undefined,
  };
  const { id, order, status } = request;
  state.requests.set(id, request);
  if (order.clientRequestId !== '') state.requestsByKey.set(getKey(order.userId, order.clientRequestId), request);
  if (status === 'ended') return;
  state.livingCounts.set(order.userId, (state.livingCounts.get(order.userId) ?? 0) + 1);
  if (order.reservationId === undefined) addToPlan(state.plan, request, findRank(state, request));
  else state.insideIds.add(id);
  if (status !== 'queued') state.processorsBusy += order.width;
}

function placeRequest(state: ClusterState, id: number): void {
  const { startsAt, parts } = state.requests.get(id) ?? {};
  if (startsAt !== undefined) placeInPlan(state.plan, id, startsAt, parts);
}
