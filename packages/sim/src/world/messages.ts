import type {
  AllocationRequest,
  ClaimedReservation,
  Content,
  Demand,
  DrainingStatus,
  Lease,
  MachineFacts,
  MachineReport,
  QueueListing,
  RequestOrder,
  ReservedStatus,
  ResourceStatus,
  ResourceLimits,
  StartGang,
  StartReplicas,
} from '@mutirao/core/messages';
import type { Instant, MachineId, ReplicaId, RequestId } from '@mutirao/core/shared';

/** What an agent says to its provider; reports and specs go on to a broker. */
export type FromAgent =
  | {
      readonly kind: 'hello';
      readonly facts: MachineFacts;
      readonly heldReplicaIds: readonly ReplicaId[];
      readonly credential: RequestId;
    }
  | { readonly kind: 'report'; readonly report: MachineReport }
  | { readonly kind: 'blobRequest'; readonly contents: readonly Content[] };

/** Messages to an agent. */
export type ToAgent =
  | { readonly kind: 'hello' }
  | { readonly kind: 'start'; readonly batch: StartReplicas }
  | { readonly kind: 'cancel'; readonly replicaIds: readonly ReplicaId[]; readonly onlyWaiting: boolean }
  | { readonly kind: 'acknowledged'; readonly sequence: number }
  | { readonly kind: 'startGang'; readonly start: StartGang }
  | { readonly kind: 'content'; readonly content: Content; readonly isThere: boolean }
  | { readonly kind: 'drain' };

/** What a broker says to a provider. */
export type FromBroker =
  | { readonly kind: 'hello'; readonly brokerId: string; readonly instance: string; readonly takesResource?: boolean }
  | { readonly kind: 'demand'; readonly demand: Demand }
  | { readonly kind: 'lease'; readonly lease: Lease }
  | { readonly kind: 'leaseRevocation'; readonly replicaIds: readonly ReplicaId[] }
  | { readonly kind: 'toMachine'; readonly machineId: MachineId; readonly message: ToAgent };

/** Messages to a broker. */
export type ToBroker =
  /**
   * `clock` is what the provider's clock shows, `resourceId` what its resource is called at the reservation manager.
   */
  | { readonly kind: 'hello'; readonly clock: Instant; readonly resourceId: string | undefined }
  | {
      readonly kind: 'joined';
      readonly facts: MachineFacts;
      readonly heldReplicaIds: readonly ReplicaId[];
      readonly isGone?: true;
    }
  | { readonly kind: 'lost'; readonly machineId: MachineId; readonly reason: string }
  | { readonly kind: 'fromMachine'; readonly machineId: MachineId; readonly message: FromAgent }
  | { readonly kind: 'requests'; readonly requests: readonly AllocationRequest[] }
  | { readonly kind: 'statuses'; readonly statuses: readonly ReservedStatus[] }
  | { readonly kind: 'draining'; readonly draining: DrainingStatus | undefined }
  | { readonly kind: 'resource'; readonly resourceStatus: ResourceStatus }
  | { readonly kind: 'settled' }
  | { readonly kind: 'leaseConfirmed'; readonly sequence: number };

/** What a resource manager is asked. */
export type ManagerCall =
  | { readonly kind: 'allocate'; readonly order: RequestOrder & { readonly reservation?: ClaimedReservation } }
  | { readonly kind: 'release'; readonly managerRequestId: string }
  | { readonly kind: 'limits' }
  | { readonly kind: 'queue'; readonly endedMax: number };

/** Sent to the watchers of its queue. */
export interface QueueHint {
  readonly kind: 'changed';
}

/** What it answers. */
export type ManagerReply =
  | { readonly ok: false; readonly code: string; readonly message: string }
  | { readonly ok: true; readonly requestId: string }
  | { readonly ok: true; readonly limits: ResourceLimits }
  | { readonly ok: true; readonly listing: QueueListing }
  | { readonly ok: true };
