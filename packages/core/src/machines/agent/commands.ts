import type { Content, MachineReport } from '../../messages/index.ts';
import type { DriverCommand, ReplicaId } from '../../shared/index.ts';
import type { HeldReplica } from './state.ts';

/** What an agent's driver must do, in order. A replica's first slot names its playpen and its launcher. */
export type AgentCommand =
  | DriverCommand
  /**
   * Pins contents that the store holds and fetches missing ones; each is answered by ContentArrived or ContentRefused.
   */
  | { readonly kind: 'AskContents'; readonly contents: readonly Content[] }
  /** Unpins them, named by `keyOfContent`: no replica here needs them. */
  | { readonly kind: 'ReleaseContents'; readonly contentKeys: readonly string[] }
  /** Makes the playpen and puts the inputs in place; answered by InputsStaged or StagingFailed. */
  | { readonly kind: 'StageIn'; readonly replica: HeldReplica }
  /** Has a member of a gang listen; answered by MemberListening or HoldFailed. */
  | { readonly kind: 'HoldMember'; readonly replica: HeldReplica }
  /**
   * Ends the resources of a gang member other than its process: its channel, and what came over it. Harmless if it has
   * none.
   */
  | { readonly kind: 'ReleaseMember'; readonly replicaId: ReplicaId }
  /**
   * Starts the process, in a playpen made for it where there was nothing to stage; answered by ProcessEnded. A member
   * of a gang of a rank above 0 takes commands over its channel instead, until it is killed. One with a runner goes to
   * the runner on its slot, which is started where it does not run.
   */
  | { readonly kind: 'LaunchTask'; readonly replica: HeldReplica }
  /**
   * Ends the idle runner on a slot, whose processors and resources are given back with this: what is staged or launched
   * later and was given any of them waits for its end. Harmless where none is.
   */
  | { readonly kind: 'EndRunner'; readonly slot: number }
  | { readonly kind: 'KillTask'; readonly replica: HeldReplica; readonly signal: 'SIGTERM' | 'SIGKILL' }
  /** Answered by OutputsCollected or CollectionFailed. */
  | { readonly kind: 'CollectOutputs'; readonly replica: HeldReplica }
  | { readonly kind: 'RemovePlaypen'; readonly slot: number }
  | { readonly kind: 'SendReport'; readonly report: MachineReport }
  /** Nothing is held and all is acknowledged: the agent may end. */
  | { readonly kind: 'Leave' };
