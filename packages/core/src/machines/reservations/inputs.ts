import type {
  ClaimContents,
  Provisioning,
  ReservationSpec,
  ResourceId,
  ResourceRules,
  GroupLink,
} from '../../messages/index.ts';
import type { ClockStepped, Duration, Instant, UserId } from '../../shared/index.ts';

/** The caller, and where the answer goes. */
interface Asked {
  readonly replyTo: number;
  readonly userId: UserId;
}

/** What an owner says of a new resource. */
export interface NewResource {
  readonly id: ResourceId;
  readonly type: string;
  /** `16` units, or a capacity: `800KB/s`. */
  readonly quantity: string;
  readonly rules: ResourceRules;
}

/** Units or capacity of a resource: an amount of any, or one unit by its number. */
export type Part =
  | { readonly kind: 'amount'; readonly amount: number }
  | { readonly kind: 'unit'; readonly unit: number };

/** The facts that the reservation manager receives. */
export type ReservationsInput =
  /** Replies a PlacementReply. @param hold 0 for a reservation. */
  | (Asked & {
      readonly kind: 'ReservationRequested';
      readonly spec: ReservationSpec;
      readonly clientRequestId: string;
      readonly hold: Duration;
      readonly isDryRun: boolean;
    })
  /** Replies a PlacementReply; refused, the old place stands. */
  | (Asked & {
      readonly kind: 'RenegotiationRequested';
      readonly reservationId: number;
      readonly spec: ReservationSpec;
    })
  /** Each of these replies the ReservationRecord. */
  | (Asked & { readonly kind: 'ConfirmationRequested'; readonly reservationId: number })
  /** @param together the one that decides. */
  | (Asked & { readonly kind: 'PrepareRequested'; readonly reservationId: number; readonly together: GroupLink })
  | (Asked & { readonly kind: 'CancellationRequested'; readonly reservationId: number; readonly reason: string })
  | (Asked & { readonly kind: 'ReleaseRequested'; readonly reservationId: number })
  /**
   * @param claim undefined if the signature is not ours. @param shownBy empty: the asking user. @param key of the
   *   claim, for repeats.
   */
  | (Asked & {
      readonly kind: 'ClaimShown';
      readonly claim: ClaimContents | undefined;
      readonly resourceId: ResourceId;
      readonly shownBy: UserId;
      readonly key: string;
    })
  /**
   * The provider of the resource reports use inside a reservation; a level. @param usedBy the user; empty if unknown.
   */
  | (Asked & {
      readonly kind: 'UseReported';
      readonly reservationId: number;
      readonly resourceId: ResourceId;
      readonly usedBy: UserId;
      readonly key: string;
    })
  /**
   * The provider of the resource reports the processors that it pre-acquired for a reservation; a level. Replies the
   * ReservationRecord.
   */
  | (Asked & { readonly kind: 'ProvisioningReported'; readonly reservationId: number; readonly ahead: Provisioning })
  /** Each of these replies a ResourceReply. */
  | (Asked & { readonly kind: 'ResourceOffered'; readonly resource: NewResource })
  | (Asked & { readonly kind: 'RulesChanged'; readonly resourceId: ResourceId; readonly rules: ResourceRules })
  | (Asked & {
      readonly kind: 'MaintenanceAnnounced';
      readonly resourceId: ResourceId;
      readonly name: string;
      readonly startsAt: Instant;
      readonly endsAt: Instant;
      /** 0 for all. */
      readonly amount: number;
      readonly reason: string;
    })
  | (Asked & { readonly kind: 'MaintenanceWithdrawn'; readonly resourceId: ResourceId; readonly name: string })
  | (Asked & {
      readonly kind: 'ResourceFailed';
      readonly resourceId: ResourceId;
      readonly part: Part;
      readonly reason: string;
    })
  | (Asked & { readonly kind: 'ResourceRestored'; readonly resourceId: ResourceId; readonly part: Part })
  /** The decision of the coordinator. */
  | {
      readonly kind: 'GroupDecided';
      readonly reservationId: number;
      readonly groupId: string;
      readonly isConfirmed: boolean;
    }
  /**
   * The process has begun, and its journal is read. Unclaimed reservations get their time again from now on: a use may
   * have begun while the process was down.
   */
  | { readonly kind: 'ManagerStarted' }
  | ClockStepped
  | { readonly kind: 'TimerFired' };
