import type { Cause } from '../../reasons/index.ts';
import type { Outage, ReservationRecord, ResourceId, ResourceRecord } from '../../messages/index.ts';
import type { Instant } from '../../shared/index.ts';

/** What has become of a reservation. */
export type ReservationFact =
  | 'held'
  | 'confirmed'
  | 'moved'
  | 'shortened'
  | 'renegotiated'
  | 'provisioned'
  | 'claimed'
  | 'released'
  | 'expired'
  | 'cancelled';

/** A reservation as it is after a fact. */
export interface ReservationReported {
  readonly fact: ReservationFact;
  readonly reservation: ReservationRecord;
}

/** Changes of what the manager promised; the journal's lines. */
export type ReservationsChange =
  /** Registered, or with other rules. */
  | { readonly kind: 'ResourcePut'; readonly resource: ResourceRecord; readonly at: Instant }
  /** Units or capacity are taken away; what was in the way has moved or is over. */
  | {
      readonly kind: 'OutagePut';
      readonly resourceId: ResourceId;
      readonly outage: Outage;
      readonly reported: readonly ReservationReported[];
    }
  | {
      readonly kind: 'OutageRemoved';
      readonly resourceId: ResourceId;
      readonly outageId: number;
      readonly reason: Cause;
    }
  /** Reservations of one resource, all at once: a new one and those that gave way to it, or one. */
  | { readonly kind: 'ReservationsPut'; readonly reported: readonly ReservationReported[] }
  /** Over for so long that they are forgotten. */
  | { readonly kind: 'ReservationsForgotten'; readonly ids: readonly number[] };
