import type { HonouredReservation, QueuedRequest, QueueListing } from '../../messages/index.ts';
import type { ClusterNode } from '../../queue/index.ts';
import type { Bytes, Instant, ProcessorCount, UserId } from '../../shared/index.ts';
import { getRequest } from './apply.ts';
import { findUse } from './plan-requests.ts';
import { countUsed } from './reservations.ts';
import { findRank, getScore } from './scores.ts';
import type { ClusterRequest, ClusterState } from './state.ts';

/** A node, and the part of it that no running request has. */
export interface ListedNode extends ClusterNode {
  readonly processorsFree: ProcessorCount;
  readonly memoryFree: Bytes;
  /** Their ids. */
  readonly gpusFree: readonly string[];
  readonly isAway: boolean;
}

/** The nodes of a cluster; none of one that gives processors and nothing else. */
export function listNodes(state: ClusterState): ListedNode[] {
  const { plan } = state;
  if (plan.kind === 'processors') return [];
  const use = findUse(plan, state);
  return plan.nodes.map((node, index) => {
    const { processors, memory, gpus } = use.getFree(index);
    const gpusFree = gpus.map(({ id }) => id);
    return { ...node, processorsFree: processors, memoryFree: memory, gpusFree, isAway: plan.away.has(index) };
  });
}

/**
 * The requests that live, in the order of arrival, then up to `endedMax` that ended, newest first.
 *
 * @param userId the user to report the ranking for, if the queue is ordered by scores; empty for a new user.
 */
export function listQueue(state: ClusterState, now: Instant, endedMax: number, userId: UserId = ''): QueueListing {
  const ids = [...state.plan.running.keys(), ...state.plan.waiting.keys(), ...state.insideIds].sort((a, b) => a - b);
  const ended = endedMax === 0 ? [] : state.endedIds.slice(-endedMax).reverse();
  return {
    at: now,
    processorsFree: Math.max(0, state.options.processors - state.processorsAway - state.processorsBusy),
    requests: [...ids, ...ended].map((id) => readEntry(state, getRequest(state, id))),
    ...(state.reservations.size === 0 ? {} : { reservations: listReservations(state, now) }),
    ...(state.options.order === undefined
      ? {}
      : { ranking: { ...state.options.order, score: getScore(state, userId).score } }),
  };
}

function listReservations(state: ClusterState, now: Instant): HonouredReservation[] {
  const entries = [...state.reservations.values()].map(
    ({ reservationId, userId, count, startsAt, endsAt, openedAt }) => ({
      reservationId,
      userId,
      count,
      startsAt,
      endsAt,
      usedCount: countUsed(state, reservationId),
      lateBy: Math.max(0, (openedAt === 0 ? now : openedAt) - startsAt),
    }),
  );
  return entries.sort((one, other) => one.startsAt - other.startsAt || one.reservationId - other.reservationId);
}

function readEntry(state: ClusterState, request: ClusterRequest): QueuedRequest {
  const { order, status } = request;
  const isRanked = status === 'queued' && order.reservationId === undefined && state.options.order !== undefined;
  return {
    managerRequestId: String(request.id),
    userId: order.userId,
    width: order.width,
    walltime: order.walltime,
    status: status === 'ending' ? 'running' : status,
    submittedAt: request.submittedAt,
    startsAt: request.startsAt ?? 0,
    endedAt: request.endedAt,
    endReason: request.endReason,
    clientRequestId: order.clientRequestId,
    ...(order.slot === undefined ? {} : { slot: order.slot }),
    ...(order.reservationId === undefined ? {} : { reservationId: order.reservationId }),
    // In whole milliseconds as all instants, and none is 0 or less, however long leads may be.
    ...(isRanked ? { rankedAt: Math.max(1, Math.round(findRank(state, request))) } : {}),
  };
}
