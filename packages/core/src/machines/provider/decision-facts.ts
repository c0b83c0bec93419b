import type { PendingRequest, RequestFacts, ServedRequest } from '../../requests/index.ts';
import { invariant, type Duration } from '../../shared/index.ts';
import type { Demand, QueueListing, ResourceLimits } from '../../messages/index.ts';
import { demandAlone, getRequests } from './brokers.ts';
import { heuristicInForce } from './heuristic.ts';
import { competingIn, listingWithOwn } from './listing-with-own.ts';
import { isOfDemand, observedTaskTimes, type KnownBroker, type OwnRequest, type ProviderState } from './state.ts';
import type { Turn } from './turn.ts';

/** What a decision needs of the resource. */
export interface Resource {
  readonly limits: ResourceLimits;
  readonly listing: QueueListing;
}

/** The demand to request processors for; a standby uses what is left of the lease. */
export function getDemand(
  turn: Turn,
  broker: KnownBroker,
): Pick<Demand, 'pendingTasks' | 'processors' | 'slot' | 'deadline' | 'gangProcessors'> {
  if (broker.connectionId === 0) return { ...demandAlone(turn, broker), deadline: undefined, gangProcessors: 0 };
  invariant(broker.demand !== undefined, `broker ${broker.brokerId} is in need without a demand`);
  return broker.demand;
}

/** What every heuristic may look at, but the requests that are pending and the slots that they leave. */
export function listFacts(turn: Turn, { limits, listing }: Resource, broker: KnownBroker): RequestFacts {
  const { state, now } = turn;
  const { pendingTasks, processors, deadline, gangProcessors = 0 } = getDemand(turn, broker);
  const served = getServed(state, broker);
  return {
    now,
    limits,
    listing: competingIn(state, listingWithOwn(state, listing, now)),
    pending: [],
    served,
    idleHeldTime: getIdleHeldTime(served),
    demand: { pendingTasks, processors, deadline, ...(gangProcessors === 0 ? {} : { gangProcessors }) },
    taskTimes: observedTaskTimes(broker),
    taskTimesElsewhere: broker.demand?.taskTimes,
    isFirst: isFirstOf(state, broker),
    options: { ...state.config.heuristicOptions, defaultTime: heuristicInForce(state).defaultTime },
  };
}

/**
 * Agents take a while to start, on a loaded host a long one; what ended before a task did says for how long at most it
 * has been too short.
 */
function getIdleHeldTime(served: readonly ServedRequest[]): Duration {
  return served.reduce(
    (most, { taskTime, startedAt, endedAt, walltime }) =>
      taskTime === 0 && endedAt - startedAt >= walltime ? Math.max(most, walltime) : most,
    0,
  );
}

/** An own request as every heuristic sees it. */
export function getPending({ requestId, width, walltime, status, startedAt }: OwnRequest): PendingRequest {
  invariant(
    status === 'submitting' || status === 'queued' || status === 'running',
    `request ${requestId} is ${status}, not submitted`,
  );
  return { requestId, width, walltime, status, startedAt };
}

/** Whether no request was made since the broker's demand began; refused ones do not count. */
function isFirstOf(state: ProviderState, broker: KnownBroker): boolean {
  return !getRequests(state, broker.brokerId).some(
    (request) => isOfDemand(broker, request) && request.status !== 'rejected',
  );
}

/** Requests that this demand made and that are over: an earlier one's tasks were others. */
function getServed(state: ProviderState, broker: KnownBroker): ServedRequest[] {
  const served = getRequests(state, broker.brokerId).filter(
    (request) => isOfDemand(broker, request) && request.startedAt > 0 && request.endedAt > 0,
  );
  return served.map(({ requestId, width, walltime, startedAt, endedAt, taskTime }) => ({
    requestId,
    width,
    walltime,
    startedAt,
    endedAt,
    taskTime,
  }));
}
