import type {
  AllocationRequest,
  ClaimedReservation,
  DrainingStatus,
  Provisioning,
  MachineFacts,
  ReservedStatus,
  ResourceStatus,
} from '../../messages/index.ts';
import type { Slot } from '../../resources/index.ts';
import type {
  Duration,
  DriverCommand,
  MachineId,
  ProcessorCount,
  ReplicaId,
  RequestId,
  UserId,
} from '../../shared/index.ts';
import type { BrokerId } from './state.ts';

/** What the provider's driver must do, in order. */
export type ProviderCommand =
  | DriverCommand
  /** Answered by SubmitAccepted, SubmitRefused or SubmitUnknown. */
  | {
      readonly kind: 'SubmitRequest';
      readonly requestId: RequestId;
      readonly clientRequestId: string;
      readonly userId: UserId;
      readonly width: ProcessorCount;
      readonly walltime: Duration;
      /** Left out for one of single processors. */
      readonly slot?: Slot;
      /** The reservation to run inside of; left out for none. */
      readonly reservation?: ClaimedReservation;
    }
  /** Asks the reservation manager whether a claim is good; answered by ClaimJudged. */
  | { readonly kind: 'JudgeClaim'; readonly reservation: ClaimedReservation }
  /** Reports to the reservation manager what is pre-acquired or requested for a reservation. */
  | { readonly kind: 'ReportProvisioning'; readonly reservationId: number; readonly ahead: Provisioning }
  /** Reports to a broker the status of the reservations that its jobs run inside; a level. */
  | { readonly kind: 'ReportStatuses'; readonly brokerId: BrokerId; readonly statuses: readonly ReservedStatus[] }
  /** Reports to a broker what the resource is and the state of its queue; a level. */
  | { readonly kind: 'ReportResource'; readonly brokerId: BrokerId; readonly resourceStatus: ResourceStatus }
  /**
   * Sends a broker whether the provider is draining, before any machine on a connection. Sent as state; undefined while
   * it takes work.
   */
  | { readonly kind: 'ReportDraining'; readonly brokerId: BrokerId; readonly draining: DrainingStatus | undefined }
  /** Takes a queued request out, or ends a running one; answered by ReleaseDone or ReleaseFailed. */
  | { readonly kind: 'ReleaseRequest'; readonly requestId: RequestId; readonly managerRequestId: string }
  /**
   * Reports a machine, then the reports that are spooled for the broker, then routes its agent, whose other reports go
   * on. A machine that is gone (`isGone`) has no agent, even if another machine has its name.
   */
  | {
      readonly kind: 'ReportMachineJoined';
      readonly brokerId: BrokerId;
      readonly facts: MachineFacts;
      readonly heldReplicaIds: readonly ReplicaId[];
      /** Left out where nothing is kept. */
      readonly keptSequences?: readonly number[];
      readonly isGone?: true;
    }
  /**
   * From now on the agent's reports, beginning with the waiting ones, are spooled and passed on as ReportMade, until
   * its machine is reported to a broker. Repeated when the spool has room again.
   */
  | { readonly kind: 'KeepReports'; readonly machineId: MachineId; readonly attachmentId: number }
  /** Reports up to this one are kept: the agent may forget them. */
  | {
      readonly kind: 'AcknowledgeSpooled';
      readonly machineId: MachineId;
      readonly attachmentId: number;
      readonly sequence: number;
    }
  /** Has the agent start replicas of a lease whose body is in the spool. */
  | {
      readonly kind: 'StartLeased';
      readonly brokerId: BrokerId;
      readonly sequence: number;
      readonly machineId: MachineId;
      readonly attachmentId: number;
      readonly replicaIds: readonly ReplicaId[];
    }
  | { readonly kind: 'ConfirmLease'; readonly brokerId: BrokerId; readonly sequence: number }
  /** Also ends the relaying between the two. */
  | {
      readonly kind: 'ReportMachineLost';
      readonly brokerId: BrokerId;
      readonly machineId: MachineId;
      readonly reason: string;
    }
  | { readonly kind: 'ReportRequests'; readonly brokerId: BrokerId; readonly requests: readonly AllocationRequest[] }
  | { readonly kind: 'ReportSynced'; readonly brokerId: BrokerId }
  /**
   * Closes the agent's stream so that it presents itself again, with what it holds now and all that was not
   * acknowledged.
   */
  | { readonly kind: 'ReattachAgent'; readonly machineId: MachineId; readonly attachmentId: number }
  /**
   * Cancels what the agent holds for a broker that is gone, takes its reports for that broker, then closes its stream.
   */
  | {
      readonly kind: 'ClearAgent';
      readonly machineId: MachineId;
      readonly attachmentId: number;
      readonly heldReplicaIds: readonly ReplicaId[];
    }
  /** Closes the agent's stream with this code: its request is over, and it must not come back with this credential. */
  | {
      readonly kind: 'RefuseAgent';
      readonly attachmentId: number;
      readonly code: string;
      readonly requestId: RequestId;
    };
