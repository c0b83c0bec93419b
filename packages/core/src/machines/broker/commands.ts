import type { Demand, OutputContent, OutputSpec, StartGang } from '../../messages/index.ts';
import type {
  Bytes,
  DriverCommand,
  Duration,
  JobId,
  MachineId,
  ProcessorCount,
  ProviderId,
  ReplicaId,
  TaskIndex,
} from '../../shared/index.ts';

/** A replica to start. */
export interface DispatchedStart {
  readonly replicaId: ReplicaId;
  readonly taskIndex: TaskIndex;
  /** See `ReplicaStart`. */
  readonly onSuccessOnly?: true;
}

/** What the broker's driver must do, in order. */
export type BrokerCommand =
  | DriverCommand
  | { readonly kind: 'DisconnectProvider'; readonly providerId: ProviderId }
  | { readonly kind: 'ConnectProvider'; readonly providerId: ProviderId; readonly address: string }
  | { readonly kind: 'SetDemand'; readonly providerId: ProviderId; readonly demand: Demand }
  /** One batch: replicas of one task group for one machine. The driver fills in template, values and files. */
  | {
      readonly kind: 'StartReplicas';
      readonly providerId: ProviderId;
      readonly machineId: MachineId;
      readonly jobId: JobId;
      readonly groupIndex: number;
      readonly starts: readonly DispatchedStart[];
      /** What each holds; left out, as many as its task takes at least. */
      readonly processors?: ProcessorCount;
      /** By which alternative of their group; left out for its first request. */
      readonly alternative?: number;
      /** What each holds of memory; left out, what its group says. */
      readonly memory?: Bytes;
      /**
       * The one replica of the batch is a member of a gang, with these processors; left out for a task without a gang.
       */
      readonly gang?: {
        readonly gangId: ReplicaId;
        readonly rank: number;
        readonly members: number;
        readonly processors: ProcessorCount;
      };
    }
  /** Every member is held: the one on this machine, and all others with the same members, may run. */
  | {
      readonly kind: 'StartGang';
      readonly providerId: ProviderId;
      readonly machineId: MachineId;
      readonly start: StartGang;
    }
  /**
   * Replaces the lease that the provider may start while this broker is away. The driver fills in templates, values and
   * files, and leaves out tasks that it cannot stage.
   */
  | {
      readonly kind: 'GrantLease';
      readonly providerId: ProviderId;
      readonly sequence: number;
      readonly horizon: Duration;
      readonly parts: readonly {
        readonly jobId: JobId;
        readonly groupIndex: number;
        readonly requirements: string;
        readonly taskTime: Duration;
        /** In the order in which to start them. */
        readonly starts: readonly DispatchedStart[];
      }[];
      /** Identities of caught machines, which get nothing of it; left out where there are none. */
      readonly quarantined?: readonly string[];
    }
  /**
   * The provider must not start these delegated replicas, because the broker has placed their tasks elsewhere; it may
   * have none of them.
   */
  | { readonly kind: 'RevokeLease'; readonly providerId: ProviderId; readonly replicaIds: readonly ReplicaId[] }
  | {
      readonly kind: 'CancelReplicas';
      readonly providerId: ProviderId;
      readonly machineId: MachineId;
      readonly replicaIds: readonly ReplicaId[];
      readonly onlyWaiting: boolean;
    }
  /** Every report of the machine up to this one is in the journal. */
  | {
      readonly kind: 'AcknowledgeReport';
      readonly providerId: ProviderId;
      readonly machineId: MachineId;
      readonly sequence: number;
    }
  /** Digests a success, and runs its check if there is one; answered by ResultDigested or ResultRefused. */
  | {
      readonly kind: 'DigestResult';
      readonly replicaId: ReplicaId;
      readonly machineId: MachineId;
      readonly jobId: JobId;
      readonly taskIndex: TaskIndex;
      readonly outputs: readonly OutputContent[];
      readonly outputSpecs: readonly OutputSpec[];
      readonly check: string;
      readonly attributes: Readonly<Record<string, string>>;
    }
  /**
   * Brings a successful replica's outputs to their places at home and runs the check; answered by ResultAccepted or
   * ResultRefused.
   */
  | {
      readonly kind: 'AcceptResult';
      readonly replicaId: ReplicaId;
      readonly machineId: MachineId;
      readonly jobId: JobId;
      readonly taskIndex: TaskIndex;
      readonly outputs: readonly OutputContent[];
      readonly outputSpecs: readonly OutputSpec[];
      readonly check: string;
      /** Of the machine that it ran on, which may be gone. */
      readonly attributes: Readonly<Record<string, string>>;
    };
