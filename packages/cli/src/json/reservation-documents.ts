import {
  ProvisioningState,
  Algorithm,
  Placement,
  ReservationStatus,
  ResourceKind,
  type Alternative,
  type GetCalendarResponse,
  type Provisioning,
  type Refusal,
  type Reservation,
  type Resource,
  type ResourceRules,
  type VerifyReservationResponse,
} from '@mutirao/api/reservation';
import { findReasonDocument, reasonDocument } from '@mutirao/api/reasons';

import type { JsonOf, shapes } from './shapes.ts';
import { isOver } from '../reservations/show-reservation.ts';
import { getEnumName } from '../wire/names.ts';

type Shapes = typeof shapes;

/** A reservation as JSON. @param unit of its resource. */
export function reservationJson(reservation: Reservation, unit: string): JsonOf<Shapes['reservation']> {
  return {
    reservation_id: reservation.reservationId,
    resource_id: reservation.resourceId,
    user_id: reservation.userId,
    status: getEnumName(ReservationStatus, reservation.status),
    start_unix_ms: reservation.startUnixMs,
    end_unix_ms: reservation.endUnixMs,
    amount: reservation.amount,
    unit,
    units: reservation.units,
    earliest_start_unix_ms: reservation.earliestStartUnixMs ?? null,
    latest_end_unix_ms: reservation.latestEndUnixMs ?? null,
    hold_until_unix_ms: orNull(reservation.holdUntilUnixMs),
    requested_unix_ms: reservation.requestedUnixMs,
    claimed_unix_ms: orNull(reservation.claimedUnixMs),
    ended_unix_ms: orNull(reservation.endedUnixMs),
    revision: reservation.revision,
    reason: findReasonDocument(reservation.reason),
    client_request_id: reservation.clientRequestId,
    claim: reservation.claim,
    provisioning: reservation.provisioning === undefined ? null : aheadJson(reservation.provisioning),
  };
}

function aheadJson({
  status,
  heldUnits,
  askedUnits,
  askUnixMs,
  expectedUnixMs,
  chancePercent,
  reasons,
}: Provisioning): unknown {
  return {
    status: getEnumName(ProvisioningState, status),
    held: heldUnits,
    asked: askedUnits,
    ask_unix_ms: orNull(askUnixMs),
    expected_unix_ms: orNull(expectedUnixMs),
    chance_percent: chancePercent ?? null,
    reasons: reasons.map(reasonDocument),
  };
}

/** What became of a request, as JSON. */
export function placementJson(outcome: {
  readonly reservation?: Reservation;
  readonly refusal?: Refusal;
  readonly movedCount: number;
  readonly unit: string;
}): JsonOf<Shapes['reservation_placement']> {
  const { reservation, refusal, movedCount, unit } = outcome;
  return {
    placed: reservation !== undefined && !isOver(reservation),
    reservation: reservation === undefined ? null : reservationJson(reservation, unit),
    moved_count: movedCount,
    code: refusal?.code ?? '',
    message: refusal?.message ?? '',
    alternatives: (refusal?.alternatives ?? []).map(alternativeJson),
  };
}

function alternativeJson({ startUnixMs, endUnixMs, amount, reason }: Alternative): unknown {
  return { start_unix_ms: startUnixMs, end_unix_ms: endUnixMs, amount, reason: findReasonDocument(reason) };
}

/** What a manager says of a claim, as JSON. */
export function verdictJson(
  { valid, code, message, reservation }: VerifyReservationResponse,
  unit: string,
): JsonOf<Shapes['reservation_verdict']> {
  return { valid, code, message, reservation: reservation === undefined ? null : reservationJson(reservation, unit) };
}

/** A resource as JSON. */
export function reservableResourceJson(resource: Resource): JsonOf<Shapes['reservable_resource']> {
  return {
    resource_id: resource.resourceId,
    owner_id: resource.ownerId,
    type: resource.resourceType,
    kind: getEnumName(ResourceKind, resource.kind),
    total: resource.total,
    unit: resource.unit,
    ...rulesJson(resource.rules),
    failed: resource.failed,
    failed_units: resource.failedUnits,
    maintenances: resource.maintenances.map(({ maintenanceId, startUnixMs, endUnixMs, amount, reason }) => ({
      maintenance_id: maintenanceId,
      start_unix_ms: startUnixMs,
      end_unix_ms: endUnixMs,
      amount,
      reason,
    })),
    reservation_count: resource.reservationCount,
  };
}

/** A manager reports all rules. */
function rulesJson(reported: ResourceRules | undefined) {
  const rules = reported ?? {
    algorithm: 0,
    placement: 0,
    durationMsMax: 0,
    reservationsPerUserMax: 0,
    amountPerUserMax: 0,
    unclaimedMsMax: 0,
  };
  return {
    cap_percent: rules.capPercent ?? 100,
    algorithm: getEnumName(Algorithm, rules.algorithm).replace('_', '-'),
    placement: getEnumName(Placement, rules.placement).replace('_', '-'),
    duration_ms_max: rules.durationMsMax,
    reservations_per_user_max: rules.reservationsPerUserMax,
    amount_per_user_max: rules.amountPerUserMax,
    moves_max: rules.movesMax ?? 0,
    unclaimed_ms_max: rules.unclaimedMsMax,
  };
}

/** A window of a calendar as JSON. */
export function calendarJson(
  calendar: GetCalendarResponse,
  resource: Resource,
): JsonOf<Shapes['reservation_calendar']> {
  return {
    resource: reservableResourceJson(resource),
    from_unix_ms: calendar.fromUnixMs,
    until_unix_ms: calendar.untilUnixMs,
    slots: calendar.slots.map(({ startUnixMs, endUnixMs, used }) => ({
      start_unix_ms: startUnixMs,
      end_unix_ms: endUnixMs,
      used,
    })),
    truncated: calendar.truncated,
  };
}

function orNull(instant: number): number | null {
  return instant === 0 ? null : instant;
}
