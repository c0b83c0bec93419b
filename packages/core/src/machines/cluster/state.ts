import type { RequestOrder, ReservedWindow, ResourceLimits } from '../../messages/index.ts';
import {
  RequestPlan,
  type BucOrder,
  type ClusterNode,
  type NodeGrant,
  type NodePart,
  type QueuePlan,
  type QueuePolicy,
  type UserScore,
  type ReservationBlock,
} from '../../queue/index.ts';
import type { Duration, Instant, ProcessorCount, UserId } from '../../shared/index.ts';

/** How a cluster is set up; from its configuration, not from its journal. */
export interface ClusterOptions extends ResourceLimits {
  /** With `order`, the places that it gives are not promises: a later request may go before. */
  readonly policy: QueuePolicy;
  /** The order of the queue by scores; left out for that of arrival. */
  readonly order?: BucOrder;
  /** Ended requests that are remembered, for listings and for repeated orders. */
  readonly endedMax: number;
  /** Its nodes, whose shapes are `nodes`; left out for a cluster that gives processors and nothing else. */
  readonly clusterNodes?: readonly ClusterNode[];
}

/** The processes of an `ending` request are being killed; it holds its processors until they have ended. */
export type ClusterRequestStatus = 'queued' | 'running' | 'ending' | 'ended';

/** A reservation that the cluster knows of. */
export interface ClusterReservation extends ReservedWindow {
  /** When it was first reported in its present form, or in one that held all of it. */
  readonly reportedAt: Instant;
  /** When its processors were all there; 0 before. */
  readonly openedAt: Instant;
}

/** One request. */
export interface ClusterRequest {
  /** Counted from 1 in the order of arrival. */
  readonly id: number;
  readonly order: RequestOrder;
  readonly submittedAt: Instant;
  /** Of its user when it was queued; left out where the queue was not ordered by scores then. */
  readonly score?: number;
  status: ClusterRequestStatus;
  /**
   * Start of its place in the plan, or of its run inside a reservation, whence its walltime counts; undefined while it
   * has none.
   */
  startsAt: Instant | undefined;
  /** What it has of nodes while it has a place; left out in a cluster of processors. */
  parts?: readonly NodePart[];
  /** What each of its processes has, from its start on; left out likewise. */
  grants?: readonly NodeGrant[];
  /** 0 unless `status` is `ended`. */
  endedAt: Instant;
  /**
   * Code of why it ended or is being ended, and the last words of what failed; empty for a request that lives or whose
   * processes all succeeded.
   */
  endReason: string;
  /** Indexes of processes that have not ended; empty unless it runs or is ending. */
  readonly livingProcesses: Set<number>;
  /** Whether one of its processes ended with another status than 0. */
  hasFailed: boolean;
  /** The last output of the first of these; left out if it wrote nothing. */
  lastWords?: string;
}

/** Everything that the cluster knows. */
export interface ClusterState {
  readonly options: ClusterOptions;
  /**
   * Queued requests wait in it, but those inside reservations; running and ending ones run in it. Capacity 0 before the
   * first ClusterStarted; then the processors that are not away, or
   * the busy ones where these are more, until what ran on a lost node has ended.
   */
  plan: QueuePlan;
  /**
   * By number; the first to be reported in its present form comes first, and none takes from those before it. Each is a
   * block in the plan. None has ended by the last step.
   */
  readonly reservations: Map<number, ClusterReservation>;
  /**
   * Requests inside reservations that have not ended, in the order of arrival. A queued or running one's reservation is
   * in `reservations`.
   */
  readonly insideIds: Set<number>;
  /** Processors that are not available at present. */
  processorsAway: ProcessorCount;
  /** Positions of the nodes that have them, ascending; empty in a cluster of processors. */
  nodesAway: readonly number[];
  /** By id, in the order of arrival; ended ones as far as they are remembered. */
  readonly requests: Map<number, ClusterRequest>;
  /** By user and the key that the user chose. */
  readonly requestsByKey: Map<string, ClusterRequest>;
  /** Ids of remembered ended requests, oldest first; at most `options.endedMax`. */
  readonly endedIds: number[];
  /** Requests of each user that have not ended; no zeros. */
  readonly livingCounts: Map<UserId, number>;
  /** Of each user with a request that counted; stored also while the order is that of arrival. */
  readonly scores: Map<UserId, UserScore>;
  /** Sum of the widths of running and ending requests. */
  processorsBusy: ProcessorCount;
  nextRequestId: number;
  /** What the last WakeAt asked for, so that it is not repeated; not promised, so not journaled. */
  wakeAt: Instant | undefined;
}

/** An empty cluster; it takes no request before ClusterStarted. */
export function createClusterState(options: ClusterOptions): ClusterState {
  return {
    options,
    plan: new RequestPlan(0, 0),
    requests: new Map(),
    requestsByKey: new Map(),
    endedIds: [],
    livingCounts: new Map(),
    reservations: new Map(),
    insideIds: new Set(),
    scores: new Map(),
    processorsAway: 0,
    nodesAway: [],
    processorsBusy: 0,
    nextRequestId: 1,
    wakeAt: undefined,
  };
}

/** The name of a request in `requestsByKey`. */
export function getKey(userId: UserId, clientRequestId: string): string {
  return JSON.stringify([userId, clientRequestId]);
}

/** When a request with a place must have ended: with its walltime, or with the reservation that it runs inside. */
export function getWalltimeEnd(
  { reservations }: ClusterState,
  { startsAt = Infinity, order }: ClusterRequest,
): Instant {
  const { walltime, reservationId } = order;
  if (reservationId === undefined) return startsAt + walltime;
  return Math.min(startsAt + walltime, reservations.get(reservationId)?.endsAt ?? 0);
}

/** A reservation as the plan sees it. */
export function getReservationBlock({ reservationId, startsAt, endsAt, count }: ReservedWindow): ReservationBlock {
  return { id: reservationId, start: startsAt, end: endsAt, count };
}

/** The walltime that a cluster grants a request for `walltime`. */
export function roundWalltime(walltime: Duration, granularity: Duration): Duration {
  return Math.ceil(walltime / granularity) * granularity;
}
