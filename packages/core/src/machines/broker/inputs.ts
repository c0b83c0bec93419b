import type {
  AllocationRequest,
  Content,
  DrainingStatus,
  JobSpec,
  MachineFacts,
  MachineReport,
  ReservedStatus,
  ResourceStatus,
  TaskGroup,
} from '../../messages/index.ts';
import type { CurrentInput } from '../../resumption/index.ts';
import type {
  ClockStepped,
  Instant,
  JobId,
  MachineId,
  ProviderId,
  ReplicaId,
  TaskIndex,
  UserId,
} from '../../shared/index.ts';

/** The facts that the broker receives. */
export type BrokerInput =
  /** Replies `{ jobId, taskCount }`. The same user and client id again replies the same job. */
  | {
      readonly kind: 'JobSubmitted';
      readonly replyTo: number;
      readonly userId: UserId;
      readonly clientJobId: string;
      readonly spec: JobSpec;
    }
  /**
   * Replies `{ firstTaskIndex, taskCount }`. The same key again replies the same, for as long as the job is not over.
   */
  | {
      readonly kind: 'TasksAppended';
      readonly replyTo: number;
      readonly userId: UserId;
      readonly jobId: JobId;
      /** Not empty. */
      readonly appendKey: string;
      readonly groups: readonly TaskGroup[];
    }
  /** Replies `{ taskCount }`. Closing a job that is closed is harmless. */
  | { readonly kind: 'JobClosed'; readonly replyTo: number; readonly userId: UserId; readonly jobId: JobId }
  | {
      readonly kind: 'JobCancelled';
      readonly replyTo: number;
      readonly userId: UserId;
      readonly jobId: JobId;
      readonly reason: string;
    }
  /**
   * Replies `{ cancelledCount }`. Tasks that have ended, or are being ended for this, are left alone, so that asking
   * again is harmless.
   */
  | {
      readonly kind: 'TasksCancelled';
      readonly replyTo: number;
      readonly userId: UserId;
      readonly jobId: JobId;
      readonly taskIndexes: readonly TaskIndex[];
      readonly reason: string;
    }
  /** Replies `{ heldCount }`. Empty indexes mean all tasks of the job. */
  | {
      readonly kind: 'TasksHeld';
      readonly replyTo: number;
      readonly userId: UserId;
      readonly jobId: JobId;
      readonly taskIndexes: readonly TaskIndex[];
    }
  /** Replies `{ releasedCount }`. Empty indexes mean all tasks of the job. */
  | {
      readonly kind: 'TasksReleased';
      readonly replyTo: number;
      readonly userId: UserId;
      readonly jobId: JobId;
      readonly taskIndexes: readonly TaskIndex[];
    }
  /** Replies `{}`. Fields that are left out stay as they are; `runningMax` 0 lifts the limit. */
  | {
      readonly kind: 'JobUpdated';
      readonly replyTo: number;
      readonly userId: UserId;
      readonly jobId: JobId;
      readonly priority?: number | undefined;
      readonly runningMax?: number | undefined;
    }
  /** Replies `{ retriedCount }`. Empty indexes mean all that failed or were cancelled. */
  | {
      readonly kind: 'TasksRetried';
      readonly replyTo: number;
      readonly userId: UserId;
      readonly jobId: JobId;
      readonly taskIndexes: readonly TaskIndex[];
      /**
       * The present contents of its input paths, for all tasks of the job that have not run; left out if tasks are
       * bound to the earlier contents.
       */
      readonly current?: readonly CurrentInput[];
    }
  /**
   * Replies `{ jobIds, isAll }`. Without ids: the ended jobs of the user that ended before a time, but for the newest
   * `keptCount`.
   */
  | {
      readonly kind: 'JobsForgotten';
      readonly replyTo: number;
      readonly userId: UserId;
      readonly jobIds: readonly JobId[];
      readonly endedBefore?: Instant | undefined;
      readonly keptCount?: number | undefined;
    }
  | {
      readonly kind: 'ProviderAdded';
      readonly replyTo: number;
      readonly providerId: ProviderId;
      readonly address: string;
    }
  | { readonly kind: 'ProviderRemoved'; readonly replyTo: number; readonly providerId: ProviderId }
  /**
   * `clock` is what the provider's clock showed when it greeted; left out, it is ours. `takesLeases`,
   * `reportsResource`: it said that it can. `resourceId`: what its resource is called at its reservation manager.
   */
  | {
      readonly kind: 'ProviderConnected';
      readonly providerId: ProviderId;
      readonly clock?: Instant | undefined;
      readonly takesLeases?: boolean | undefined;
      readonly resourceId?: string | undefined;
      readonly reportsResource?: boolean | undefined;
    }
  /** The provider has stored this lease, and has reported every machine that may hold replicas of an earlier one. */
  | { readonly kind: 'LeaseConfirmed'; readonly providerId: ProviderId; readonly sequence: number }
  /** All machines that the provider had when it connected have been reported. */
  | { readonly kind: 'ProviderSynced'; readonly providerId: ProviderId }
  | { readonly kind: 'ProviderDisconnected'; readonly providerId: ProviderId; readonly reason: string }
  /** Also said of a machine that is known, when its provider or its agent reconnects. */
  | {
      readonly kind: 'MachineJoined';
      readonly providerId: ProviderId;
      readonly facts: MachineFacts;
      readonly heldReplicaIds: readonly ReplicaId[];
      /** Its machine is announced only for its spooled reports, and counts as lost when these are acknowledged. */
      readonly isGone?: true;
    }
  | { readonly kind: 'MachineLost'; readonly machineId: MachineId; readonly reason: string }
  /** Contents of outputs are in the content store already: `inline` is undefined in each. */
  | { readonly kind: 'MachineReported'; readonly machineId: MachineId; readonly report: MachineReport }
  /** A machine sent something unreadable or impossible; `sequence`: of that report, if it has one. */
  | {
      readonly kind: 'MachineMisbehaved';
      readonly machineId: MachineId;
      readonly detail: string;
      readonly sequence?: number;
    }
  | {
      readonly kind: 'RequestsChanged';
      readonly providerId: ProviderId;
      readonly requests: readonly AllocationRequest[];
    }
  /** The status of the reservations with demand inside; a level. */
  | {
      readonly kind: 'StatusesReported';
      readonly providerId: ProviderId;
      readonly statuses: readonly ReservedStatus[];
    }
  /**
   * Whether the provider is draining; a level. Undefined for one that takes work, as each does on a new connection
   * until it says otherwise.
   */
  | {
      readonly kind: 'DrainingReported';
      readonly providerId: ProviderId;
      readonly draining: DrainingStatus | undefined;
    }
  /** What the provider's resource is and the state of its queue; a level. */
  | { readonly kind: 'ResourceReported'; readonly providerId: ProviderId; readonly resourceStatus: ResourceStatus }
  /** The driver could not send a replica (an input is gone from home, say). */
  | {
      readonly kind: 'ReplicaUnstartable';
      readonly replicaId: ReplicaId;
      readonly reason: string;
      readonly detail: string;
    }
  /** The answer to `AcceptResult`: outputs are at home and the check passed, or why not. */
  | { readonly kind: 'ResultAccepted'; readonly replicaId: ReplicaId }
  /** The answer to `DigestResult`: equal for results that are the same. */
  | { readonly kind: 'ResultDigested'; readonly replicaId: ReplicaId; readonly digest: string }
  /** A user overrules the votes; `machineId` is its name now or its last one, or its identity. */
  | {
      readonly kind: 'MachineQuarantined';
      readonly replyTo: number;
      readonly machineId: MachineId;
      readonly reason: string;
    }
  | { readonly kind: 'MachineTrustReset'; readonly replyTo: number; readonly machineId: MachineId }
  /** A machine gets nothing new, while its replicas end by themselves. Named as above. */
  | {
      readonly kind: 'MachineDrained';
      readonly replyTo: number;
      readonly machineId: MachineId;
      readonly reason: string;
    }
  | { readonly kind: 'MachineUndrained'; readonly replyTo: number; readonly machineId: MachineId }
  | { readonly kind: 'ResultRefused'; readonly replicaId: ReplicaId; readonly reason: string; readonly detail: string }
  /**
   * Inputs of replicas of a job that asks for storage affinity are on their way to a machine: `sources` are the paths
   * at home that they come from.
   */
  | {
      readonly kind: 'InputsStaged';
      readonly machineId: MachineId;
      readonly contents: readonly Content[];
      readonly sources: readonly { readonly path: string; readonly contents: readonly Content[] }[];
    }
  | ClockStepped
  | { readonly kind: 'TimerFired' };

/** The input of that kind. */
export type GetInput<Kind extends BrokerInput['kind']> = Extract<BrokerInput, { kind: Kind }>;
