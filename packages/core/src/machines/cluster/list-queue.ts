import type { QueuedRequest, QueueListing } from '../../messages/index.ts';
import type { Instant } from '../../shared/index.ts';
import { getRequest } from './apply.ts';
import type { ClusterRequest, ClusterState } from './state.ts';

/** The requests that live, in the order of arrival, then up to `endedMax` that ended, newest first. */
export function listQueue(state: ClusterState, now: Instant, endedMax: number): QueueListing {
  const ids = [...state.plan.running.keys(), ...state.plan.waiting.keys()].sort((a, b) => a - b);
  const ended = endedMax === 0 ? [] : state.endedIds.slice(-endedMax).reverse();
  return {
    at: now,
    processorsFree: Math.max(0, state.options.processors - state.processorsAway - state.processorsBusy),
    requests: [...ids, ...ended].map((id) => entryOf(getRequest(state, id))),
  };
}

function entryOf(request: ClusterRequest): QueuedRequest {
  const { order, status } = request;
  return {
    managerRequestId: String(request.id), userId: order.userId, width: order.width, walltime: order.walltime,
    status: status === 'ending' ? 'running' : status,
    submittedAt: request.submittedAt, startsAt: request.startsAt ?? 0, endedAt: request.endedAt, endReason: request.endReason,
    clientRequestId: order.clientRequestId,
  };
}
