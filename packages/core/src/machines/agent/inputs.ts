import type { GangMemberReady, OutputContent, StartGang, StartReplicas } from '../../messages/index.ts';
import type { Cause } from '../../reasons/index.ts';
import type { ClockStepped, ReplicaId } from '../../shared/index.ts';
import type { ProcessResult, Verdict } from './state.ts';

/** The facts that an agent receives. */
export type AgentInput =
  /** The provider's stream is open and the hello is on its way; everything unacknowledged is sent again. */
  | { readonly kind: 'ProviderAttached' }
  | { readonly kind: 'ProviderLost' }
  | { readonly kind: 'ReplicasDispatched'; readonly batch: StartReplicas }
  | { readonly kind: 'ReplicasCancelled'; readonly replicaIds: readonly ReplicaId[]; readonly onlyWaiting: boolean }
  /** Every report up to this one is safe at the broker. */
  | { readonly kind: 'ReportAcknowledged'; readonly sequence: number }
  | { readonly kind: 'DrainRequested' }
  /** The agent must stop: replicas that it holds end as broken, so that they run elsewhere. */
  | { readonly kind: 'StopRequested'; readonly reason: string }
  /** A content is here; `contentKey` is its `keyOfContent`. */
  | { readonly kind: 'ContentArrived'; readonly contentKey: string }
  | { readonly kind: 'ContentRefused'; readonly contentKey: string; readonly reason: string; readonly detail: string }
  | { readonly kind: 'InputsStaged'; readonly replicaId: ReplicaId }
  | { readonly kind: 'StagingFailed'; readonly replicaId: ReplicaId; readonly verdict: Verdict }
  /** A member of a gang listens and has started nothing. */
  | { readonly kind: 'MemberListening'; readonly held: GangMemberReady }
  | { readonly kind: 'HoldFailed'; readonly replicaId: ReplicaId; readonly verdict: Verdict }
  /** All members of a gang are held. */
  | { readonly kind: 'GangStarted'; readonly start: StartGang }
  /** The channel between rank 0 and this member is lost for good. */
  | { readonly kind: 'GangLost'; readonly replicaId: ReplicaId; readonly detail: string }
  /** A verdict names a fault of the machine that the status does not show: no launcher, no space. */
  | {
      readonly kind: 'ProcessEnded';
      readonly replicaId: ReplicaId;
      readonly result: ProcessResult;
      readonly verdict: Verdict | undefined;
      /** The runner that took the task has ended too. Left out where it takes more, and for other processes. */
      readonly isRunnerGone?: true;
    }
  /** The runner on a slot ended while it had no task. */
  | { readonly kind: 'RunnerEnded'; readonly slot: number }
  /** Sampling found a task over a limit. */
  | { readonly kind: 'LimitExceeded'; readonly replicaId: ReplicaId; readonly reason: string; readonly detail: Cause }
  | { readonly kind: 'OutputsCollected'; readonly replicaId: ReplicaId; readonly outputs: readonly OutputContent[] }
  | { readonly kind: 'CollectionFailed'; readonly replicaId: ReplicaId; readonly verdict: Verdict }
  | ClockStepped
  | { readonly kind: 'TimerFired' };
