import type { AuditedMethods } from '@mutirao/runtime/rpc';

interface ReservationIn {
  readonly reservationId?: number;
  readonly reservation?: { readonly reservationId: number } | undefined;
  readonly outcome?: { readonly $case: string; readonly value: { readonly reservationId?: number } } | undefined;
}

/** A trial request, or one that found no place, is not recorded: nothing changed. */
function placed(request: { readonly dryRun?: boolean }, { outcome }: ReservationIn): string | undefined {
  return request.dryRun === true || outcome?.$case !== 'reservation'
    ? undefined
    : `reservation ${outcome.value.reservationId ?? ''}`;
}

const answered = (_request: unknown, { reservation }: ReservationIn): string =>
  `reservation ${reservation?.reservationId ?? ''}`;
const ofResource = ({ resourceId }: { readonly resourceId: string }): string => `resource ${resourceId}`;

/** How the audit log records what users did with reservations and resources. */
export const auditedMethods: AuditedMethods = {
  requestReservation: { action: 'reservation.request', target: placed },
  renegotiateReservation: { action: 'reservation.change', target: placed },
  cancelReservation: { action: 'reservation.cancel', target: answered },
  confirmReservation: { action: 'reservation.confirm', target: answered },
  prepareReservation: { action: 'reservation.confirm', target: answered },
  claimReservation: { action: 'reservation.claim', target: answered },
  releaseReservation: { action: 'reservation.release', target: answered },
  registerResource: { action: 'resource.register', target: ofResource },
  updateResource: { action: 'resource.change', target: ofResource },
  addMaintenance: { action: 'resource.change', target: ofResource },
  removeMaintenance: { action: 'resource.change', target: ofResource },
  failResource: { action: 'resource.change', target: ofResource },
  restoreResource: { action: 'resource.change', target: ofResource },
};
