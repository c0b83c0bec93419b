import type {
  AllocationRequest,
  DependencyCondition,
  GangMemberReady,
  JobSpec,
  TaskGroup,
  MachineFacts,
  OutputContent,
  Outcome,
  RequestReservation,
  ReservationName,
  ReplicaUsage,
  StagingTimes,
  TaskStatus,
} from '../../messages/index.ts';
import type {
  Bytes,
  Duration,
  Instant,
  JobId,
  MachineId,
  ProcessorCount,
  ProviderId,
  ReplicaId,
  TaskIndex,
  UserId,
} from '../../shared/index.ts';
import type { Cause, Reason } from '../../reasons/index.ts';
import type { CurrentInput } from '../../resumption/index.ts';
import type { LeasedTasks } from './leases/leases.ts';
import type { SiteAssignment } from './site-selection/assignment.ts';
import type { TrustEvidence } from './trust/trust-evidence.ts';

/**
 * What became of a replica: `accepted` (its result is the task's), `surplus` (a sibling's result was taken first),
 * `failed`
 * (counts towards the task's failures), `lost` (its machine left or could not run it; does not count), `withdrawn`
 * (taken
 * back before it started, or by the owner of a provider that drains; does not count), `cancelled` (its job was, or its
 * gang could not go on), `outvoted` (other machines agreed on another result, or this one was caught),
 * `served` (a member of a gang whose leader ended well).
 */
export type ReplicaDisposition =
  | 'accepted'
  | 'surplus'
  | 'outvoted'
  | 'failed'
  | 'lost'
  | 'withdrawn'
  | 'cancelled'
  | 'served';

/** One replica's end, as it goes into the journal and the records. */
export interface ReplicaEnding {
  readonly replicaId: ReplicaId;
  readonly taskIndex: TaskIndex;
  readonly disposition: ReplicaDisposition;
  /** What the task is after this ending; `failed` gives it up. */
  readonly taskStatus: TaskStatus;
  /** Undefined when the machine never reported it. */
  readonly outcome: Outcome | undefined;
  readonly exitStatus: number;
  readonly dispatchedAt: Instant;
  /** 0 when it never started, as far as is known. */
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly reason: string;
  /** The code of the last loss, where the task is given up since it was lost too often; left out otherwise. */
  readonly lastLoss?: string;
  readonly detail: Cause;
  /**
   * Kept in the records, not in the journal's line; empty arrays if there was none. For a verified replica they are in
   * its `ReplicaVerifying`, and empty here in its `ReplicasEnded`: a record keeps what it has.
   */
  readonly standardOutput: Uint8Array;
  readonly standardError: Uint8Array;
  readonly outputTruncated: boolean;
  readonly outputs: readonly OutputContent[];
  /** As reported by its machine; left out if it had nothing to transfer, or never reported. */
  readonly staging?: StagingTimes;
  /** As its machine measured; left out where it did not. */
  readonly usage?: ReplicaUsage;
  /** What its task asks for from now on: it used more memory than it had. Such an end does not count as a failure. */
  readonly memoryNext?: Bytes;
}

/**
 * Changes of what the broker promised; the journal's lines and the source of all events. Never decides anything when
 * applied.
 */
export type BrokerChange =
  | {
      readonly kind: 'JobAccepted';
      readonly jobId: JobId;
      readonly userId: UserId;
      readonly clientJobId: string;
      readonly spec: JobSpec;
      readonly at: Instant;
    }
  /**
   * An open job has more tasks, numbered from `firstTaskIndex` on. The same key again is the same append.
   */
  | {
      readonly kind: 'TasksAppended';
      readonly jobId: JobId;
      readonly appendKey: string;
      readonly firstTaskIndex: TaskIndex;
      readonly groups: readonly TaskGroup[];
      readonly at: Instant;
    }
  /** An open job takes no more tasks, and ends with the last of those that it has. */
  | { readonly kind: 'JobClosed'; readonly jobId: JobId; readonly at: Instant }
  /** Sets tasks that are ready or waiting to cancelled and the job to cancelled; its replicas end one by one. */
  | { readonly kind: 'JobCancelled'; readonly jobId: JobId; readonly reason: Cause; readonly at: Instant }
  /**
   * These tasks, which have not ended, are no longer wanted: ready and waiting ones become cancelled, with their
   * successors; those with replicas do when the last one has ended.
   */
  | {
      readonly kind: 'TasksCancelled';
      readonly jobId: JobId;
      readonly taskIndexes: readonly TaskIndex[];
      /** Words of its user, or why the broker cancels them. */
      readonly reason: Cause;
      readonly at: Instant;
    }
  /** These tasks are not started from now on; empty indexes mean all of the job. */
  | {
      readonly kind: 'TasksHeld';
      readonly jobId: JobId;
      readonly taskIndexes: readonly TaskIndex[];
      readonly at: Instant;
    }
  /** They may be started again; empty indexes mean all of the job. */
  | {
      readonly kind: 'TasksReleased';
      readonly jobId: JobId;
      readonly taskIndexes: readonly TaskIndex[];
      readonly at: Instant;
    }
  /**
   * Tasks of a job no longer wait for another job: the condition holds, or they were cancelled. Empty indexes mean all of
   * the job.
   */
  | {
      readonly kind: 'DependencySettled';
      readonly jobId: JobId;
      readonly awaitedId: JobId;
      readonly condition: DependencyCondition;
      readonly taskIndexes: readonly TaskIndex[];
      readonly at: Instant;
    }
  /** From now on tasks of the job may start. */
  | { readonly kind: 'BeginReached'; readonly jobId: JobId; readonly at: Instant }
  /** Tasks of the job that have not started are cancelled by the change that follows. */
  | { readonly kind: 'JobExpired'; readonly jobId: JobId; readonly at: Instant }
  /** Fields that are left out stay as they are; `runningMax` 0 lifts the limit. */
  | {
      readonly kind: 'JobUpdated';
      readonly jobId: JobId;
      readonly priority?: number;
      readonly runningMax?: number;
      readonly at: Instant;
    }
  /** What its tasks ask for from now on, in place of the memory of their first request. */
  | { readonly kind: 'MemoryChosen'; readonly jobId: JobId; readonly memory: Bytes; readonly at: Instant }
  /**
   * The reservation that it ran inside of is over; `waits`: the remaining tasks wait for the user. Repeated without
   * `waits` when the user lets them go on.
   */
  | {
      readonly kind: 'ReservationLeft';
      readonly jobId: JobId;
      readonly code: string;
      readonly reason: Reason;
      readonly waits: boolean;
      readonly at: Instant;
    }
  /** Nothing is known of these jobs any more, all of which had ended. */
  | { readonly kind: 'JobsForgotten'; readonly jobIds: readonly JobId[]; readonly at: Instant }
  /** Every task has ended. */
  | {
      readonly kind: 'JobEnded';
      readonly jobId: JobId;
      readonly status: 'finished' | 'failed' | 'cancelled';
      readonly at: Instant;
    }
  /** Empty indexes mean all that failed or were cancelled. */
  | {
      readonly kind: 'TasksRetried';
      readonly jobId: JobId;
      readonly taskIndexes: readonly TaskIndex[];
      readonly at: Instant;
    }
  /** What paths of its inputs hold by now: tasks that have not run yet get that, and it is what they are held to. */
  | {
      readonly kind: 'InputsRevised';
      readonly jobId: JobId;
      readonly current: readonly CurrentInput[];
      readonly at: Instant;
    }
  /**
   * Replica `firstReplicaId + i` runs task `taskIndexes[i]`. `isAdopted`: the provider had started it from its lease.
   */
  | {
      readonly kind: 'ReplicasDispatched';
      readonly machineId: MachineId;
      readonly jobId: JobId;
      readonly firstReplicaId: ReplicaId;
      readonly taskIndexes: readonly TaskIndex[];
      readonly at: Instant;
      readonly isAdopted?: true;
      /** What each holds; left out, as many as its task takes at least. */
      readonly processors?: ProcessorCount;
      /** By which alternative of their group; left out for its first request. */
      readonly alternative?: number;
    }
  /** The providers that site selection assigned to ready tasks, or that it took their assignment back. */
  | {
      readonly kind: 'TasksAssigned';
      readonly jobId: JobId;
      readonly assignments: readonly SiteAssignment[];
      readonly at: Instant;
    }
  /** A gang of task `taskIndex`: its member of rank i is replica `firstReplicaId + i`, on the machine of `seats[i]`. */
  | {
      readonly kind: 'GangDispatched';
      readonly jobId: JobId;
      readonly taskIndex: TaskIndex;
      readonly firstReplicaId: ReplicaId;
      readonly seats: readonly { readonly machineId: MachineId; readonly processors: ProcessorCount }[];
      readonly at: Instant;
    }
  /** These members have their processors and wait for the others. */
  | {
      readonly kind: 'MembersHeld';
      readonly machineId: MachineId;
      readonly jobId: JobId;
      readonly held: readonly GangMemberReady[];
      readonly at: Instant;
    }
  /** All members are held: from now on they may run. */
  | { readonly kind: 'GangStarted'; readonly jobId: JobId; readonly gangId: ReplicaId; readonly at: Instant }
  | {
      readonly kind: 'ReplicasStarted';
      readonly machineId: MachineId;
      readonly jobId: JobId;
      readonly started: readonly { readonly replicaId: ReplicaId; readonly startedAt: Instant }[];
    }
  /**
   * Their tasks go on without them, because of the job's replication cap: siblings of theirs run, or ran when this was
   * decided.
   */
  | {
      readonly kind: 'ReplicasGivenUp';
      readonly jobId: JobId;
      readonly replicaIds: readonly ReplicaId[];
      readonly at: Instant;
    }
  /**
   * Its machine is connected and did not confirm in time that it ended this replica, or gave it back: its task goes on
   * without it and is what `taskStatus` says. What it holds at its machine stays taken until the machine reports its
   * end or leaves.
   */
  | {
      readonly kind: 'ReplicaLetGo';
      readonly machineId: MachineId;
      readonly jobId: JobId;
      readonly replicaId: ReplicaId;
      readonly taskIndex: TaskIndex;
      readonly taskStatus: TaskStatus;
      readonly at: Instant;
    }
  /** A success whose outputs or check are still to be settled. */
  | {
      readonly kind: 'ReplicaVerifying';
      readonly machineId: MachineId;
      readonly jobId: JobId;
      readonly ending: ReplicaEnding;
      readonly at: Instant;
    }
  /** The digest of a success whose task is voted on. */
  | {
      readonly kind: 'ReplicaDigested';
      readonly machineId: MachineId;
      readonly jobId: JobId;
      readonly replicaId: ReplicaId;
      readonly digest: string;
    }
  /** The machines of these identities brought the result that is taken; `outvotedCount` brought another one. */
  | {
      readonly kind: 'TaskDecided';
      readonly jobId: JobId;
      readonly taskIndex: TaskIndex;
      readonly voters: readonly string[];
      readonly outvotedCount: number;
    }
  /** Results that rested on a machine that was caught: their tasks are ready again where the job is open. */
  | {
      readonly kind: 'ResultsDoubted';
      readonly jobId: JobId;
      readonly machineId: MachineId;
      readonly taskIndexes: readonly TaskIndex[];
    }
  /** Something speaks against a machine, which is caught from now on or not. */
  | {
      readonly kind: 'EvidenceNoted';
      readonly identity: string;
      readonly machineId: MachineId;
      readonly evidence: TrustEvidence;
      readonly isQuarantined: boolean;
    }
  | {
      readonly kind: 'MachineDrained';
      readonly identity: string;
      readonly machineId: MachineId;
      readonly reason: string;
      readonly at: Instant;
    }
  | { readonly kind: 'MachineUndrained'; readonly identity: string }
  | {
      readonly kind: 'MachineTrustReset';
      readonly identity: string;
      readonly machineId: MachineId;
      readonly at: Instant;
    }
  /** If the machine was silent before its loss, `silentSince` is when that began; 0 if even that is not known. */
  | {
      readonly kind: 'ReplicasEnded';
      readonly machineId: MachineId;
      readonly jobId: JobId;
      readonly endings: readonly ReplicaEnding[];
      readonly at: Instant;
      readonly silentSince?: Instant;
    }
  | { readonly kind: 'ProviderAdded'; readonly providerId: ProviderId; readonly address: string }
  | { readonly kind: 'ProviderRemoved'; readonly providerId: ProviderId }
  /** The provider may run these while we are away; their ids are given. */
  | {
      readonly kind: 'LeaseGranted';
      readonly providerId: ProviderId;
      readonly sequence: number;
      readonly horizon: Duration;
      readonly parts: readonly LeasedTasks[];
      readonly at: Instant;
    }
  /** The provider keeps it, and nothing of earlier ones can come back. */
  | { readonly kind: 'LeaseConfirmed'; readonly providerId: ProviderId; readonly sequence: number }
  | {
      readonly kind: 'MachineJoined';
      readonly providerId: ProviderId;
      readonly facts: MachineFacts;
      readonly at: Instant;
    }
  | { readonly kind: 'MachineLost'; readonly machineId: MachineId; readonly reason: string; readonly at: Instant }
  | {
      readonly kind: 'RequestsChanged';
      readonly providerId: ProviderId;
      readonly requests: readonly AllocationRequest[];
    }
  /** The clock was set while the broker ran: what durations are counted from moved along. */
  | { readonly kind: 'ClockStepped'; readonly by: Duration; readonly at: Instant }
  /** A reservation is at another time, or of another size, than its claim says, or than was known since. */
  | {
      readonly kind: 'ReservationMoved';
      readonly reservation: ReservationName;
      readonly window: NonNullable<RequestReservation['movedTo']>;
    };

/** The change of that kind. */
export type ChangeOf<Kind extends BrokerChange['kind']> = Extract<BrokerChange, { kind: Kind }>;
