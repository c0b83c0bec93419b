import type { ReportHealth } from '../../bag/index.ts';
import type {
  Demand,
  LeaseOutline,
  MachineFacts,
  QueueListing,
  ReservedWindow,
  ResourceLimits,
} from '../../messages/index.ts';
import type { Bytes, ClockStepped, Duration, Instant, MachineId, ReplicaId, RequestId } from '../../shared/index.ts';
import type { BrokerId } from './state.ts';

/** The facts that a provider receives. */
export type ProviderInput =
  /** The process has started and its journal is read. `instance` is a fresh name, used if the provider has none yet. */
  | { readonly kind: 'ProviderStarted'; readonly instance: string }
  /**
   * `instance` names the journal that it speaks for; left out by one that names none. `takesResource`: it needs the
   * resource's status.
   */
  | {
      readonly kind: 'BrokerConnected';
      readonly brokerId: BrokerId;
      readonly connectionId: number;
      readonly instance?: string;
      readonly takesResource?: boolean;
    }
  | { readonly kind: 'BrokerDisconnected'; readonly brokerId: BrokerId; readonly connectionId: number }
  /** A level: replaces the demand before. */
  | { readonly kind: 'DemandChanged'; readonly brokerId: BrokerId; readonly demand: Demand }
  /** A level. The driver has its body in the spool. */
  | {
      readonly kind: 'LeaseGranted';
      readonly brokerId: BrokerId;
      readonly connectionId: number;
      readonly lease: LeaseOutline;
    }
  /** The broker placed these of what it leased otherwise. */
  | {
      readonly kind: 'LeaseRevoked';
      readonly brokerId: BrokerId;
      readonly connectionId: number;
      readonly replicaIds: readonly ReplicaId[];
    }
  /** All inputs of these replicas of the lease are here; repeated after each start. */
  | {
      readonly kind: 'InputsStaged';
      readonly brokerId: BrokerId;
      readonly sequence: number;
      readonly replicaIds: readonly ReplicaId[];
    }
  /**
   * An agent whose reports are kept has reported; the driver has the body, and contents that go with it, in the spool.
   */
  | {
      readonly kind: 'ReportMade';
      readonly machineId: MachineId;
      readonly attachmentId: number;
      readonly sequence: number;
      readonly endedReplicaIds: readonly ReplicaId[];
      readonly bytes: Bytes;
      /** What its ends say of the machine. */
      readonly health: ReportHealth;
    }
  /** Leased replicas that a machine should have started have no body in the spool: it has none of them. */
  | {
      readonly kind: 'LeasedUnstartable';
      readonly machineId: MachineId;
      readonly attachmentId: number;
      readonly replicaIds: readonly ReplicaId[];
    }
  /** A broker acknowledged reports of a machine, some of which are kept. */
  | {
      readonly kind: 'SpooledAcknowledged';
      readonly brokerId: BrokerId;
      readonly machineId: MachineId;
      readonly sequence: number;
    }
  | { readonly kind: 'LimitsRead'; readonly limits: ResourceLimits }
  /** `readAt` is when the reading began, by our own clock: what was submitted later cannot be missed in it. */
  | { readonly kind: 'QueueListed'; readonly listing: QueueListing; readonly readAt: Instant }
  | { readonly kind: 'QueueReadFailed'; readonly reason: string }
  | { readonly kind: 'SubmitAccepted'; readonly requestId: RequestId; readonly managerRequestId: string }
  /**
   * `isPassing`: for a reason that passes by itself, and says nothing about the request. `code`: what the manager
   * refused it with.
   */
  | {
      readonly kind: 'SubmitRefused';
      readonly requestId: RequestId;
      readonly reason: string;
      readonly isPassing?: true;
      readonly code?: string;
    }
  /** The call came to nothing: the manager may have the request or not. */
  | { readonly kind: 'SubmitUnknown'; readonly requestId: RequestId; readonly reason: string }
  | { readonly kind: 'ReleaseDone'; readonly requestId: RequestId }
  | { readonly kind: 'ReleaseFailed'; readonly requestId: RequestId; readonly reason: string }
  /** An agent presented itself; the driver has checked that the machine's name and request are its credential's. */
  | {
      readonly kind: 'AgentAttached';
      readonly attachmentId: number;
      readonly facts: MachineFacts;
      readonly heldReplicaIds: readonly ReplicaId[];
    }
  /** `hasLeft`: it said good-bye and will not be back. */
  | {
      readonly kind: 'AgentDetached';
      readonly machineId: MachineId;
      readonly attachmentId: number;
      readonly hasLeft: boolean;
    }
  /** Tasks that ended since the last such input, seen by the relay; `requestId` is empty for time-shared machines. */
  | {
      readonly kind: 'TasksMeasured';
      readonly requestId: RequestId;
      readonly longest: Duration;
      readonly total: Duration;
      readonly count: number;
      /** The shortest, and the sum of the squares; left out by older releases. */
      readonly shortest?: Duration;
      readonly squares?: number;
    }
  /**
   * Machines of allocations on which the relay saw tasks begin or end, and since when each runs that runs there now; a
   * single 0 for none. Sent only while a heuristic that watches the queue decides.
   */
  | {
      readonly kind: 'TasksSeen';
      readonly machines: readonly (readonly [machineId: MachineId, ...since: readonly Instant[]])[];
    }
  /**
   * The owner drains the provider: it takes no new work until it is undrained. With `isAtOnce` also what runs is given
   * back. Replies undefined, as the two below.
   */
  | { readonly kind: 'DrainAsked'; readonly replyTo: number; readonly reason: string; readonly isAtOnce?: true }
  | { readonly kind: 'UndrainAsked'; readonly replyTo: number }
  /**
   * The process is about to end and gives everything back first. The next one takes work again, unless the owner drains
   * the provider.
   */
  | { readonly kind: 'GiveBackAsked'; readonly replyTo: number; readonly reason: string }
  /** Heuristic empty and time undefined for what is in force. Replies the HeuristicSetting in force then. */
  | {
      readonly kind: 'HeuristicAsked';
      readonly replyTo: number;
      readonly heuristic: string;
      readonly defaultTime: Duration | undefined;
    }
  /**
   * All reservations of the resource that are confirmed and not over; a level. Sent only if the provider pre-acquires
   * allocations for them.
   */
  | { readonly kind: 'WindowsReported'; readonly windows: readonly ReservedWindow[] }
  /** What the reservation manager says of a claim: its code is empty for a good one. */
  | { readonly kind: 'ClaimJudged'; readonly claim: string; readonly code: string }
  | ClockStepped
  | { readonly kind: 'TimerFired' };
