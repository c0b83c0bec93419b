import type { RequestOrder, ReservedWindow } from '../../messages/index.ts';
import type { ClockStepped, ProcessorCount } from '../../shared/index.ts';

/** The facts that a cluster receives. */
export type ClusterInput =
  /**
   * The process began; what ran before it is dead. The first input of each life. @param away as of ProcessorsAway, and
   * `nodesAway` as its nodes; none when left out.
   */
  | { readonly kind: 'ClusterStarted'; readonly away?: ProcessorCount; readonly nodesAway?: readonly number[] }
  /**
   * Processors that are away at present with their nodes; a level. It comes before the ends of what ran there. @param
   * nodes their positions, ascending; left out in a cluster of processors.
   */
  | { readonly kind: 'ProcessorsAway'; readonly count: ProcessorCount; readonly nodes?: readonly number[] }
  /** Replies `{ requestId }`, and `gain` (a WalltimeGain) where a tighter walltime would have put it further ahead. */
  | { readonly kind: 'AllocationRequested'; readonly replyTo: number; readonly order: RequestOrder }
  /** Replies `{}`, also for a request that is unknown or ended. */
  | { readonly kind: 'ReleaseRequested'; readonly replyTo: number; readonly requestId: number }
  /**
   * One of a request's processes ended, or could not be started. A reason is given where that is not its own doing: the
   * whole request ends for it.
   */
  | {
      readonly kind: 'ProcessExited';
      readonly requestId: number;
      readonly processIndex: number;
      readonly exitStatus: number;
      readonly reason?: string;
      readonly words?: string;
    }
  /** All reservations of this cluster that are not over; a level. */
  | { readonly kind: 'ReservationsReported'; readonly windows: readonly ReservedWindow[] }
  /** A good claim for a reservation was shown; it is honoured until a level comes without it. */
  | { readonly kind: 'ReservationShown'; readonly window: ReservedWindow }
  | ClockStepped
  | { readonly kind: 'TimerFired' };
