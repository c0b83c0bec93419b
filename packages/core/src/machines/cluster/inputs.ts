import type { RequestOrder } from '../../messages/index.ts';

/** Facts that the cluster hears of. */
export type ClusterInput =
  /** The process began; what ran before it is dead. The first input of each life. */
  | { readonly kind: 'ClusterStarted' }
  /** Replies `{ requestId }`. */
  | { readonly kind: 'AllocationRequested'; readonly replyTo: number; readonly order: RequestOrder }
  /** Replies `{}`, also for a request that is unknown or ended. */
  | { readonly kind: 'ReleaseRequested'; readonly replyTo: number; readonly requestId: number }
  /** One of a request's processes ended, or could not be started. A reason is given where that is not its own doing: the whole request ends for it. */
  | { readonly kind: 'ProcessExited'; readonly requestId: number; readonly processIndex: number; readonly exitStatus: number; readonly reason?: string }
  | { readonly kind: 'TimerFired' };
