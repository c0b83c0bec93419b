import type { ReservationRecord, ResourceId, ResourceRecord } from '../../messages/index.ts';
import type { Cause } from '../../reasons/index.ts';
import type { ReservationsChange } from './changes.ts';

/** A change as it is published. */
export interface ReservationEvent {
  /** A lower-case fact: `reservation.moved`, `resource.failed`. */
  readonly type: string;
  readonly resourceId: ResourceId;
  /** The record after the fact; undefined if the event is about a resource. */
  readonly reservation: ReservationRecord | undefined;
  /** Of a resource that was registered or has other rules. */
  readonly resource: ResourceRecord | undefined;
  readonly reason: Cause;
}

/** The events that a change publishes, in order; none for what is forgotten. */
export function listEvents(change: ReservationsChange): ReservationEvent[] {
  switch (change.kind) {
    case 'ResourcePut':
      return [
        {
          type: 'resource.offered',
          resourceId: change.resource.id,
          reservation: undefined,
          resource: change.resource,
          reason: '',
        },
      ];
    case 'OutagePut': {
      const { outage, resourceId } = change;
      return [
        {
          type: outage.kind === 'failure' ? 'resource.failed' : 'resource.maintained',
          resourceId,
          reservation: undefined,
          resource: undefined,
          reason: outage.reason,
        },
        ...report(change.reported),
      ];
    }
    case 'OutageRemoved':
      return [
        {
          type: 'resource.restored',
          resourceId: change.resourceId,
          reservation: undefined,
          resource: undefined,
          reason: change.reason,
        },
      ];
    case 'ReservationsPut':
      return report(change.reported);
    case 'ReservationsForgotten':
      return [];
  }
}

function report(reported: Extract<ReservationsChange, { kind: 'ReservationsPut' }>['reported']): ReservationEvent[] {
  return reported.map(({ fact, reservation }) => ({
    type: `reservation.${fact}`,
    resourceId: reservation.resourceId,
    reservation,
    resource: undefined,
    reason: reservation.reason,
  }));
}
