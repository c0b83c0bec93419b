import type { RequestOrder } from '../../messages/index.ts';
import type { ClusterNode, NodeGrant, NodePart, UserScore } from '../../queue/index.ts';
import type { Duration, Instant, ProcessorCount, UserId } from '../../shared/index.ts';
import type { ClusterReservation } from './state.ts';

/** Changes of what the cluster promised; the journal's lines. */
export type ClusterChange =
  /**
   * A new life with this many present processors: nothing runs, and waiting requests have lost their places. A cluster
   * of processors leaves out the nodes.
   */
  | {
      readonly kind: 'ClusterStarted';
      readonly processors: ProcessorCount;
      readonly at: Instant;
      readonly away?: ProcessorCount;
      readonly nodes?: readonly ClusterNode[];
      readonly nodesAway?: readonly number[];
    }
  | { readonly kind: 'ProcessorsAway'; readonly count: ProcessorCount; readonly nodes?: readonly number[] }
  /**
   * The number of processors to plan with has changed: running requests keep their places, waiting ones have lost
   * theirs.
   */
  | { readonly kind: 'CapacityChanged'; readonly processors: ProcessorCount; readonly at: Instant }
  /** The clock was set: what runs keeps the rest of its walltime, and those that wait have lost their places. */
  | { readonly kind: 'ClockStepped'; readonly by: Duration; readonly at: Instant }
  /** @param score of its user, where the queue is ordered by scores. */
  | {
      readonly kind: 'RequestQueued';
      readonly requestId: number;
      readonly order: RequestOrder;
      readonly at: Instant;
      readonly score?: number;
    }
  /** A user's score is this from now on. */
  | ({ readonly kind: 'ScoreChanged'; readonly userId: UserId } & UserScore)
  | {
      readonly kind: 'RequestPlaced';
      readonly requestId: number;
      readonly startsAt: Instant;
      readonly parts?: readonly NodePart[];
    }
  /** A waiting request has no place any more. */
  | { readonly kind: 'RequestDisplaced'; readonly requestId: number }
  /** @param startsAt of a request inside a reservation, which has no place in the plan. */
  | {
      readonly kind: 'RequestStarted';
      readonly requestId: number;
      readonly startsAt?: Instant;
      readonly grants?: readonly NodeGrant[];
    }
  | {
      readonly kind: 'ProcessExited';
      readonly requestId: number;
      readonly processIndex: number;
      readonly exitStatus: number;
      readonly words?: string;
    }
  /**
   * Reservations that the cluster no longer honours, and those that are new or different. If one is different, or a new
   * one does not fit with the promises, waiting requests have lost their places.
   */
  | {
      readonly kind: 'ReservationsChanged';
      readonly removedIds: readonly number[];
      readonly reported: readonly ClusterReservation[];
      readonly at: Instant;
    }
  /** The processors of a reservation that has begun are there. */
  | { readonly kind: 'ReservationOpened'; readonly reservationId: number; readonly at: Instant }
  /** Its processes are being killed; `reason` is why. */
  | { readonly kind: 'RequestEnding'; readonly requestId: number; readonly reason: string }
  | { readonly kind: 'RequestEnded'; readonly requestId: number; readonly reason: string; readonly at: Instant };
