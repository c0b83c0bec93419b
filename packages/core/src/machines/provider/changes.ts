import type {
  ClaimedReservation,
  LeaseOutline,
  MachineFacts,
  ReservedWindow,
  ResourceLimits,
} from '../../messages/index.ts';
import type { Reason } from '../../reasons/index.ts';
import type { RequestCandidate, TaskGroup } from '../../requests/index.ts';
import type { Slot } from '../../resources/index.ts';
import type {
  Bytes,
  Duration,
  Instant,
  MachineId,
  ProcessorCount,
  ReplicaId,
  RequestId,
  UserId,
} from '../../shared/index.ts';
import type { BrokerId, HeuristicSetting } from './state.ts';

/** Changes of what the provider promised; the lines of its journal. */
export type ProviderChange =
  | { readonly kind: 'ProviderFounded'; readonly instance: string; readonly at: Instant }
  | { readonly kind: 'LimitsChanged'; readonly limits: ResourceLimits; readonly at: Instant }
  | { readonly kind: 'BrokerKnown'; readonly brokerId: BrokerId; readonly at: Instant }
  /** It named its journal for the first time. */
  | { readonly kind: 'InstanceKnown'; readonly brokerId: BrokerId; readonly instance: string; readonly at: Instant }
  /** It speaks for another journal: its lease is void, and the replicas that agents hold for it are orphans. */
  | { readonly kind: 'BrokerReplaced'; readonly brokerId: BrokerId; readonly instance: string; readonly at: Instant }
  /** Its agent holds nothing of a former journal any more. */
  | { readonly kind: 'MachineCleared'; readonly machineId: MachineId; readonly at: Instant }
  | {
      readonly kind: 'RequestDrafted';
      readonly requestId: RequestId;
      readonly brokerId: BrokerId;
      readonly userId: UserId;
      readonly width: ProcessorCount;
      readonly walltime: Duration;
      /** Left out for one of single processors. */
      readonly slot?: Slot;
      readonly heuristic: string;
      readonly reasons: readonly Reason[];
      readonly at: Instant;
      /** What the heuristic compared; left out by one that compares nothing. */
      readonly candidates?: readonly RequestCandidate[];
      /** The reservation that it will run inside; left out for one outside reservations. */
      readonly reservation?: ClaimedReservation;
      /** The reservation that it is held for; left out for any other. */
      readonly heldFor?: ReservedWindow;
    }
  /** From here on the manager may have it. */
  | { readonly kind: 'RequestSubmitting'; readonly requestId: RequestId; readonly at: Instant }
  /** The manager has it: it answered so, or its listing shows it. */
  | {
      readonly kind: 'RequestQueued';
      readonly requestId: RequestId;
      readonly managerRequestId: string;
      readonly at: Instant;
    }
  | {
      readonly kind: 'RequestStarted';
      readonly requestId: RequestId;
      readonly startedAt: Instant;
      readonly at: Instant;
    }
  /** The manager put it back into its queue after it had started; its first allocation is over. */
  | { readonly kind: 'RequestRequeued'; readonly requestId: RequestId; readonly reason: Reason; readonly at: Instant }
  /** The reservation that it will run inside is at another time than was known. */
  | {
      readonly kind: 'RequestMoved';
      readonly requestId: RequestId;
      readonly startsAt: Instant;
      readonly endsAt: Instant;
      /** Left out in old journals: as it was. */
      readonly amount?: ProcessorCount;
      readonly at: Instant;
    }
  /** It is no longer needed, and the manager is asked to take it out. */
  | {
      readonly kind: 'RequestReleasing';
      readonly requestId: RequestId;
      /** The deciding one first; one at least. */
      readonly reasons: readonly Reason[];
      readonly at: Instant;
      /** A heuristic gave it up, which counts among the withdrawals of the hour. */
      readonly isGivenUp?: true;
      /** It ran and completed no task. */
      readonly isUnused?: true;
    }
  /** When it starts at the latest, as the first listing with it shows. */
  | {
      readonly kind: 'RequestPromised';
      readonly requestId: RequestId;
      readonly startsAt: Instant;
      readonly at: Instant;
    }
  /** Tasks of a broker's demand ran in a request that ended before them. */
  | {
      readonly kind: 'TasksCutOff';
      readonly brokerId: BrokerId;
      readonly groups: readonly TaskGroup[];
      readonly at: Instant;
    }
  /** The clock was set back: what was asked for later than now was asked for now. */
  | { readonly kind: 'ClockSetBack'; readonly at: Instant }
  /** The clock was set while the provider ran: its pauses, and the times of its requests, moved along. */
  | { readonly kind: 'ClockStepped'; readonly by: Duration; readonly at: Instant }
  | {
      readonly kind: 'RequestEnded';
      readonly requestId: RequestId;
      readonly status: 'ended' | 'rejected' | 'vanished';
      readonly reason: Reason;
      readonly endedAt: Instant;
      readonly at: Instant;
      /** It was refused for a reason that passes by itself. */
      readonly isPassing?: true;
      /** Why its reservation can no longer be used. */
      readonly overCode?: string;
      /** Why the resource manager ended it; left out where that was asked of it, and in old journals. */
      readonly endCode?: string;
    }
  | { readonly kind: 'MachineJoined'; readonly facts: MachineFacts; readonly brokerId: BrokerId; readonly at: Instant }
  | {
      readonly kind: 'MachineAssigned';
      readonly machineId: MachineId;
      readonly brokerId: BrokerId;
      readonly at: Instant;
    }
  | { readonly kind: 'MachineLost'; readonly machineId: MachineId; readonly reason: string; readonly at: Instant }
  | {
      readonly kind: 'TasksMeasured';
      readonly requestId: RequestId;
      readonly longest: Duration;
      readonly total: Duration;
      readonly count: number;
      /** Left out in old journals. */
      readonly shortest?: Duration;
      readonly squares?: number;
    }
  /** A broker without demand has demand again: the task times of the former demand say nothing about the new one. */
  | { readonly kind: 'DemandBegan'; readonly brokerId: BrokerId; readonly at: Instant }
  | { readonly kind: 'DemandEnded'; readonly brokerId: BrokerId; readonly at: Instant }
  /** Another heuristic decides from here on, in place of the initial one. */
  | {
      readonly kind: 'HeuristicSwitched';
      readonly to: HeuristicSetting;
      readonly over: HeuristicSetting;
      readonly at: Instant;
    }
  /** What the provider was started with decides again. */
  | { readonly kind: 'HeuristicSwitchForgotten'; readonly at: Instant }
  /** A lease of a broker, in place of the one before. */
  | { readonly kind: 'LeaseTaken'; readonly brokerId: BrokerId; readonly lease: LeaseOutline; readonly at: Instant }
  /** The provider goes on alone in place of a broker that is away. */
  | { readonly kind: 'StandbyBegan'; readonly brokerId: BrokerId; readonly at: Instant }
  | { readonly kind: 'StandbyEnded'; readonly brokerId: BrokerId; readonly at: Instant }
  | {
      readonly kind: 'LeaseStarted';
      readonly brokerId: BrokerId;
      readonly machineId: MachineId;
      readonly replicaIds: readonly ReplicaId[];
    }
  /** Their broker placed them otherwise. */
  | { readonly kind: 'LeaseRevoked'; readonly brokerId: BrokerId; readonly replicaIds: readonly ReplicaId[] }
  /** They were lost with their machine, and may start again. */
  | { readonly kind: 'LeaseReturned'; readonly brokerId: BrokerId; readonly replicaIds: readonly ReplicaId[] }
  /** A report for a broker that is away; its body is in the spool. */
  | {
      readonly kind: 'ReportSpooled';
      readonly brokerId: BrokerId;
      readonly facts: MachineFacts;
      readonly sequence: number;
      readonly endedReplicaIds: readonly ReplicaId[];
      readonly bytes: Bytes;
      readonly at: Instant;
    }
  /** Their broker has all up to that sequence. */
  | {
      readonly kind: 'ReportsForgotten';
      readonly machineId: MachineId;
      readonly incarnation: string;
      readonly upTo: number;
    }
  /** All reservations to pre-acquire allocations for, in place of those before. */
  | { readonly kind: 'WindowsChanged'; readonly windows: readonly ReservedWindow[]; readonly at: Instant }
  /** What was held is a broker's, inside the reservation whose claim it showed. */
  | {
      readonly kind: 'HeldGiven';
      readonly requestId: RequestId;
      readonly brokerId: BrokerId;
      readonly reservation: ClaimedReservation;
      readonly at: Instant;
    }
  /** The reservation that it is held for ends earlier than was known; what it holds stays until then. */
  | { readonly kind: 'HeldShortened'; readonly requestId: RequestId; readonly endsAt: Instant; readonly at: Instant }
  /** The reservation that it is held for has another place or size, into which it lasts. */
  | { readonly kind: 'HeldMoved'; readonly requestId: RequestId; readonly window: ReservedWindow; readonly at: Instant }
  /** The owner drains the provider, or says more about it. */
  | {
      readonly kind: 'DrainingBegan';
      readonly since: Instant;
      readonly reason: string;
      readonly isAtOnce?: true;
      readonly at: Instant;
    }
  /** The owner undrained the provider. */
  | { readonly kind: 'DrainingEnded'; readonly at: Instant }
  /** Refusals are forgotten, since new demand has come up. */
  | { readonly kind: 'RefusalsForgotten'; readonly at: Instant };
