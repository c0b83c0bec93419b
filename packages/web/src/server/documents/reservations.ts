import {
  ProvisioningState,
  ReservationStatus,
  ResourceKind,
  type Alternative,
  type GetCalendarResponse,
  type Provisioning,
  type Refusal,
  type Reservation as ReservationWire,
  type Resource,
} from '@mutirao/api/reservation';
import { findReasonDocument, reasonDocument } from '@mutirao/api/reasons';

import type { ReservableResource, Reservation, ReservationCalendar, ReservationPlacement } from '../../schema/index.ts';
import { instantOrNull, getEnumName } from './names.ts';

/** The user who looks, and the unit of the resource. */
export interface Viewer {
  readonly userId: string;
  readonly unit: string;
}

/** A resource that can be reserved. */
export function resourceDocument(resource: Resource): ReservableResource {
  return {
    resource_id: resource.resourceId,
    owner_id: resource.ownerId,
    type: resource.resourceType,
    kind: getEnumName(ResourceKind, resource.kind),
    total: resource.total,
    unit: resource.unit,
    cap_percent: resource.rules?.capPercent ?? 100,
    duration_ms_max: resource.rules?.durationMsMax ?? 0,
    failed: resource.failed,
    reservation_count: resource.reservationCount,
    maintenances: resource.maintenances.map(({ maintenanceId, startUnixMs, endUnixMs, amount, reason }) => ({
      maintenance_id: maintenanceId,
      start_unix_ms: startUnixMs,
      end_unix_ms: endUnixMs,
      amount,
      reason,
    })),
  };
}

/** A reservation, without its claim: that is shown where it is used, not on a page. */
export function reservationDocument(one: ReservationWire, { userId, unit }: Viewer): Reservation {
  return {
    reservation_id: one.reservationId,
    resource_id: one.resourceId,
    user_id: one.userId,
    is_mine: one.userId === userId,
    status: getEnumName(ReservationStatus, one.status),
    start_unix_ms: one.startUnixMs,
    end_unix_ms: one.endUnixMs,
    amount: one.amount,
    unit,
    units: one.units.map(({ first, count }) => ({ first, count })),
    earliest_start_unix_ms: one.earliestStartUnixMs ?? null,
    latest_end_unix_ms: one.latestEndUnixMs ?? null,
    hold_until_unix_ms: instantOrNull(one.holdUntilUnixMs),
    requested_unix_ms: one.requestedUnixMs,
    revision: one.revision,
    reason: findReasonDocument(one.reason),
    provisioning: one.provisioning === undefined ? null : aheadDocument(one.provisioning),
  };
}

function aheadDocument({
  status,
  heldUnits,
  askedUnits,
  expectedUnixMs,
  chancePercent,
  reasons,
}: Provisioning): NonNullable<Reservation['provisioning']> {
  return {
    status: getEnumName(ProvisioningState, status),
    held: heldUnits,
    asked: askedUnits,
    expected_unix_ms: instantOrNull(expectedUnixMs),
    chance_percent: chancePercent ?? null,
    reasons: reasons.map(reasonDocument),
  };
}

/** What became of a spec. */
export function placementDocument(
  outcome: {
    readonly reservation: ReservationWire | undefined;
    readonly refusal: Refusal | undefined;
    readonly movedCount: number;
  },
  viewer: Viewer,
): ReservationPlacement {
  const { reservation, refusal, movedCount } = outcome;
  const over: readonly ReservationStatus[] = [
    ReservationStatus.RELEASED,
    ReservationStatus.EXPIRED,
    ReservationStatus.CANCELLED,
  ];
  return {
    placed: reservation !== undefined && !over.includes(reservation.status),
    reservation: reservation === undefined ? null : reservationDocument(reservation, viewer),
    moved_count: movedCount,
    code: refusal?.code ?? '',
    message: refusal?.message ?? '',
    alternatives: (refusal?.alternatives ?? []).map(({ startUnixMs, endUnixMs, amount, reason }: Alternative) => ({
      start_unix_ms: startUnixMs,
      end_unix_ms: endUnixMs,
      amount,
      reason: findReasonDocument(reason),
    })),
  };
}

/** A window of a calendar. */
export function calendarDocument(
  { fromUnixMs, untilUnixMs, slots, truncated }: GetCalendarResponse,
  resource: Resource,
  reservations: readonly Reservation[],
): ReservationCalendar {
  const [length, used] = slots.reduce(
    ([time, taken], slot) =>
      [time + slot.endUnixMs - slot.startUnixMs, taken + (slot.endUnixMs - slot.startUnixMs) * slot.used] as const,
    [0, 0] as readonly [number, number],
  );
  return {
    resource: resourceDocument(resource),
    from_unix_ms: fromUnixMs,
    until_unix_ms: untilUnixMs,
    truncated,
    slots: slots.map((slot) => ({ start_unix_ms: slot.startUnixMs, end_unix_ms: slot.endUnixMs, used: slot.used })),
    utilisation: length === 0 || resource.total === 0 ? 0 : used / length / resource.total,
    reservations: [...reservations],
  };
}
