import type { Duration, ProcessorCount, UserId } from '../../shared/index.ts';

/** What a request asks for. */
export interface RequestOrder {
  readonly userId: UserId;
  readonly width: ProcessorCount;
  /** Rounded up to the cluster's granularity when it is accepted. */
  readonly walltime: Duration;
  /** Program and arguments, started once per processor. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Empty for the cluster's own choice. */
  readonly workingDirectory: string;
  /** The same user and key again is the same request; empty makes each a new one. */
  readonly clientRequestId: string;
}

/** Facts that the cluster hears of. */
export type ClusterInput =
  /** The process began; what ran before it is dead. The first input of each life. */
  | { readonly kind: 'ClusterStarted' }
  /** Replies `{ requestId }`. */
  | { readonly kind: 'AllocationRequested'; readonly replyTo: number; readonly order: RequestOrder }
  /** Replies `{}`, also for a request that is unknown or ended. */
  | { readonly kind: 'ReleaseRequested'; readonly replyTo: number; readonly requestId: number }
  /** One of a request's processes ended, or could not be started. */
  | { readonly kind: 'ProcessExited'; readonly requestId: number; readonly processIndex: number; readonly exitStatus: number }
  | { readonly kind: 'TimerFired' };
