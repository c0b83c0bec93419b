import type { PlacementReply, ReservationEvent } from '@mutirao/core/machines/reservations';
import type {
  ProvisioningState,
  Provisioning,
  Outage,
  PlacementRefusal,
  ReservationRecord,
  ReservationStatus,
  ReservationSpec,
  ReservedWindow,
  ResourceDimension,
  ResourceRecord,
  ResourceRules,
  ResourceState,
  Timing,
  GroupOutcome,
  GroupLink,
  RequestedAmount,
} from '@mutirao/core/messages';
import { instantMax } from '@mutirao/core/reservations';
import type { Instant } from '@mutirao/core/shared';

import {
  Algorithm as AlgorithmWire,
  Placement as PlacementWire,
  ReservationStatus as StatusWire,
  ResourceKind as KindWire,
  Timing as TimingWire,
  ProvisioningState as ProvisioningStateWire,
  GroupOutcome as DecisionWire,
  type GetClaimKeysResponse,
  type Provisioning as ProvisioningWire,
  type Maintenance as MaintenanceWire,
  type Refusal as RefusalWire,
  type RenegotiateReservationResponse,
  type Reservation as ReservationWire,
  type ReservationEvent as EventWire,
  type ReservationSpec as SpecWire,
  type Resource as ResourceWire,
  type ResourceRules as RulesWire,
  type Together as GroupWire,
  type UnitRange,
} from '../generated/mutirao/reservation/v1/reservation_service.ts';
import { clip } from '../limits.ts';
import { decodeReasons, encodeCause, encodeReason, encodeReasons, sayCause } from '../reasons/index.ts';
import { badRequest, boundList, boundName, boundNumber, boundProcessors, boundText } from './common.ts';

const wireOfStatuses: Readonly<Record<ReservationStatus, StatusWire>> = {
  held: StatusWire.HELD,
  confirmed: StatusWire.CONFIRMED,
  claimed: StatusWire.CLAIMED,
  released: StatusWire.RELEASED,
  expired: StatusWire.EXPIRED,
  cancelled: StatusWire.CANCELLED,
};
const statusesOfWire = new Map(
  Object.entries(wireOfStatuses).map(([status, wire]) => [wire, status as ReservationStatus]),
);
const wireOfDecisions: Readonly<Record<GroupOutcome, DecisionWire>> = {
  unknown: DecisionWire.UNSPECIFIED,
  open: DecisionWire.OPEN,
  committed: DecisionWire.COMMITTED,
  aborted: DecisionWire.ABORTED,
};
const decisionsOfWire = new Map(
  Object.entries(wireOfDecisions).map(([decision, wire]) => [wire, decision as GroupOutcome]),
);
const wireOfProvisioning: Readonly<Record<ProvisioningState, ProvisioningStateWire>> = {
  planned: ProvisioningStateWire.PLANNED,
  asked: ProvisioningStateWire.ASKED,
  queued: ProvisioningStateWire.QUEUED,
  held: ProvisioningStateWire.HELD,
  honoured: ProvisioningStateWire.HONOURED,
  late: ProvisioningStateWire.LATE,
  lost: ProvisioningStateWire.LOST,
};
const aheadsOfWire = new Map(
  Object.entries(wireOfProvisioning).map(([status, wire]) => [wire, status as ProvisioningState]),
);
const timingsOfWire = new Map<TimingWire, Timing>([
  [TimingWire.UNSPECIFIED, 'advance'],
  [TimingWire.ADVANCE, 'advance'],
  [TimingWire.IMMEDIATE, 'immediate'],
  [TimingWire.ON_DEMAND, 'on-demand'],
]);
const algorithmsOfWire = new Map<AlgorithmWire, ResourceRules['algorithm']>([
  [AlgorithmWire.UNSPECIFIED, 'suvs'],
  [AlgorithmWire.SUVS, 'suvs'],
  [AlgorithmWire.SUVS_P, 'suvs-p'],
]);
const placementsOfWire = new Map<PlacementWire, ResourceRules['placement']>([
  [PlacementWire.UNSPECIFIED, 'first-fit'],
  [PlacementWire.FIRST_FIT, 'first-fit'],
  [PlacementWire.MIN_LIP, 'min-lip'],
  [PlacementWire.MIN_TIP, 'min-tip'],
]);
const unitsOfDimensions: Readonly<Record<ResourceDimension, string>> = {
  count: '',
  bytes: 'B',
  'bytes-per-second': 'B/s',
  hertz: 'Hz',
};

const noRules: RulesWire = {
  capPercent: undefined,
  algorithm: AlgorithmWire.UNSPECIFIED,
  placement: PlacementWire.UNSPECIFIED,
  durationMsMax: 0,
  reservationsPerUserMax: 0,
  amountPerUserMax: 0,
  movesMax: undefined,
  unclaimedMsMax: 0,
};
/** Moves that a request may cause where the owner says nothing. */
const movesMaxUsual = 16;
const ppmOfPercent = 10_000;
const textLengthMax = 1024;

/** Reads a spec. What the resource allows is the manager's to check. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeSpec(wire: SpecWire | undefined): ReservationSpec {
  if (wire === undefined) throw badRequest('spec is absent');
  return {
    resourceId: readText('resource_id', wire.resourceId),
    amount: decodeAmount(wire.amount),
    duration: wire.durationMs,
    timing: lookUp(timingsOfWire, wire.timing, 'timing'),
    earliestStart: readInstant('earliest_start_unix_ms', wire.earliestStartUnixMs),
    latestEnd: readInstant('latest_end_unix_ms', wire.latestEndUnixMs),
  };
}

function decodeAmount(wire: SpecWire['amount']): RequestedAmount {
  switch (wire?.$case) {
    case undefined:
      throw badRequest('amount is absent; expected a quantity, or an elastic or malleable amount');
    case 'quantity':
      return { kind: 'text', text: readText('quantity', wire.value) };
    case 'elastic':
      return { kind: 'elastic', ...wire.value };
    case 'malleable':
      return {
        kind: 'malleable',
        work: wire.value.workUnitMs,
        amountMin: wire.value.amountMin,
        amountMax: wire.value.amountMax,
      };
  }
}

/**
 * Reads an instant; undefined where none is given. @throws {MutiraoError} MUT_BAD_REQUEST for one that no calendar
 * reaches.
 */
export function readInstant(name: string, wire: number | undefined): Instant | undefined {
  if (wire !== undefined && wire > instantMax) throw badRequest(`${name} is ${wire}; expected at most ${instantMax}`);
  return wire;
}

/** Reads a short text. @throws {MutiraoError} MUT_BAD_REQUEST */
export function readText(name: string, value: string): string {
  if (Buffer.byteLength(value) > textLengthMax)
    throw badRequest(`${name} has ${Buffer.byteLength(value)} bytes; expected at most ${textLengthMax}`);
  if (value.includes('\0')) throw badRequest(`${name} holds a NUL character`);
  return value;
}

/** Reads an owner's rules; what is absent has its default. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeRules(wire: RulesWire | undefined): ResourceRules {
  const given = wire ?? noRules;
  const percent = given.capPercent ?? 100;
  if (!(percent > 0 && percent <= 100))
    throw badRequest(`cap_percent is ${percent}; expected more than 0 and at most 100`);
  return {
    capPpm: Math.max(1, Math.round(percent * ppmOfPercent)),
    algorithm: lookUp(algorithmsOfWire, given.algorithm, 'algorithm'),
    placement: lookUp(placementsOfWire, given.placement, 'placement'),
    durationMax: given.durationMsMax,
    reservationsPerUserMax: given.reservationsPerUserMax,
    amountPerUserMax: given.amountPerUserMax,
    movesMax: given.movesMax ?? movesMaxUsual,
    unclaimedMax: given.unclaimedMsMax,
  };
}

function lookUp<Wire, Value>(values: ReadonlyMap<Wire, Value>, wire: Wire, name: string): Value {
  const value = values.get(wire);
  if (value === undefined) throw badRequest(`${name} is ${String(wire)}; expected a value of its enumeration`);
  return value;
}

function encodeRules(rules: ResourceRules): RulesWire {
  return {
    capPercent: rules.capPpm / ppmOfPercent,
    algorithm: rules.algorithm === 'suvs' ? AlgorithmWire.SUVS : AlgorithmWire.SUVS_P,
    placement: {
      'first-fit': PlacementWire.FIRST_FIT,
      'min-lip': PlacementWire.MIN_LIP,
      'min-tip': PlacementWire.MIN_TIP,
    }[rules.placement],
    durationMsMax: rules.durationMax,
    reservationsPerUserMax: rules.reservationsPerUserMax,
    amountPerUserMax: rules.amountPerUserMax,
    movesMax: rules.movesMax,
    unclaimedMsMax: rules.unclaimedMax,
  };
}

/** Writes a resource as it is now. */
export function encodeResource({ resource, outages, livingCount }: ResourceState): ResourceWire {
  const failures = outages.filter(({ kind }) => kind === 'failure');
  return {
    ...encodeResourceFacts(resource),
    failed: failures.reduce((sum, { amount }) => sum + amount, 0),
    failedUnits: encodeUnits(failures.flatMap(({ units }) => units).sort((one, other) => one - other)),
    maintenances: outages.filter(({ kind }) => kind === 'maintenance').map(encodeMaintenance),
    reservationCount: livingCount,
  };
}

function encodeResourceFacts(resource: ResourceRecord): ResourceWire {
  return {
    resourceId: resource.id,
    ownerId: resource.ownerId,
    resourceType: resource.type,
    kind: resource.kind === 'counted' ? KindWire.UNITS : KindWire.CAPACITY,
    total: resource.total,
    unit: unitsOfDimensions[resource.dimension],
    rules: encodeRules(resource.rules),
    failed: 0,
    failedUnits: [],
    maintenances: [],
    reservationCount: 0,
  };
}

function encodeMaintenance({ name, startsAt, endsAt, amount, units, reason }: Outage): MaintenanceWire {
  return { maintenanceId: name, startUnixMs: startsAt, endUnixMs: endsAt, amount, units: encodeUnits(units), reason };
}

/** Writes units as ranges. @param units ascending. */
export function encodeUnits(units: readonly number[]): UnitRange[] {
  const ranges: UnitRange[] = [];
  for (const unit of units) {
    const last = ranges.at(-1);
    if (last !== undefined && last.first + last.count === unit) last.count += 1;
    else ranges.push({ first: unit, count: 1 });
  }
  return ranges;
}

/** Writes a reservation. @param claim signed; empty to leave it out. */
export function encodeReservation(reservation: ReservationRecord, claim: string): ReservationWire {
  const {
    place,
    resourceId,
    status,
    holdUntil,
    requestedAt,
    claimedAt,
    endedAt,
    revision,
    reason,
    clientRequestId,
    together,
    ahead,
  } = reservation;
  return {
    reservationId: place.id,
    resourceId,
    userId: place.userId,
    status: wireOfStatuses[status],
    // One in an old journal may end beyond what the wire carries, and would hide all others from the reader.
    startUnixMs: Math.min(place.start, instantMax),
    endUnixMs: Math.min(place.end, instantMax),
    amount: place.amount,
    units: encodeUnits(place.resources),
    earliestStartUnixMs: place.earliestStart,
    latestEndUnixMs: place.latestEnd,
    holdUntilUnixMs: holdUntil,
    requestedUnixMs: requestedAt,
    claimedUnixMs: claimedAt,
    endedUnixMs: endedAt,
    revision,
    reason: encodeCause(reason),
    clientRequestId,
    claim,
    together:
      together === undefined
        ? undefined
        : { groupId: together.groupId, managerAddress: together.manager, reservationId: together.reservationId },
    provisioning: ahead === undefined ? undefined : encodeProvisioning(ahead),
  };
}

/** Reads a reservation as whoever manages its resource sees it. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeReservedWindow({
  reservationId,
  userId,
  amount,
  startUnixMs,
  endUnixMs,
}: ReservationWire): ReservedWindow {
  if (reservationId < 1) throw badRequest(`reservation_id is ${reservationId}; expected 1 or more`);
  boundNumber(endUnixMs, 'instant', 'reservation.end_unix_ms');
  if (endUnixMs <= startUnixMs)
    throw badRequest(
      `reservation ${reservationId} is from ${startUnixMs} to ${endUnixMs}; expected it to end after its start`,
    );
  return {
    reservationId,
    userId: boundName(userId, 'name', 'reservation.user_id'),
    count: boundProcessors(amount, 'resourceProcessors', 'reservation.amount'),
    startsAt: startUnixMs,
    endsAt: endUnixMs,
  };
}

/** Reads the keys of a reservation manager. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeClaimKeys({
  keys,
}: GetClaimKeysResponse): { readonly keyId: string; readonly publicKeyPem: string }[] {
  boundList(keys, 'keys', 'keys');
  return keys.map(({ keyId, publicKeyPem }) => ({
    keyId: boundName(keyId, 'name', 'key_id'),
    publicKeyPem: boundText(publicKeyPem, 'text', 'public_key_pem'),
  }));
}

/** Writes what is held ahead. */
export function encodeProvisioning({
  status,
  heldCount,
  askedCount,
  askAt,
  expectedAt,
  chance,
  reasons,
}: Provisioning): ProvisioningWire {
  return {
    status: wireOfProvisioning[status],
    heldUnits: heldCount,
    askedUnits: askedCount,
    askUnixMs: askAt,
    expectedUnixMs: expectedAt,
    chancePercent: chance === undefined ? undefined : chance * 100,
    reasons: encodeReasons(reasons),
  };
}

/** Reads what is held ahead. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeProvisioning(wire: ProvisioningWire | undefined): Provisioning {
  if (wire === undefined) throw badRequest('provisioning is absent');
  const { heldUnits: heldCount, askedUnits: askedCount, chancePercent } = wire;
  if (chancePercent !== undefined && !(chancePercent >= 0 && chancePercent <= 100))
    throw badRequest(`chance_percent is ${chancePercent}; expected 0 to 100`);
  return {
    status: lookUp(aheadsOfWire, wire.status, 'status'),
    heldCount,
    askedCount,
    askAt: readInstant('ask_unix_ms', wire.askUnixMs) ?? 0,
    expectedAt: readInstant('expected_unix_ms', wire.expectedUnixMs) ?? 0,
    chance: chancePercent === undefined ? undefined : chancePercent / 100,
    reasons: decodeReasons(wire.reasons, 'provisioning.reasons'),
  };
}

/** Reads the atomic group that a reservation belongs to. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeGroup(wire: GroupWire | undefined): GroupLink {
  if (wire === undefined) throw badRequest('together is absent');
  const groupId = readText('group_id', wire.groupId);
  if (groupId.length < 16)
    throw badRequest(
      `group_id is ${JSON.stringify(groupId)}; expected 16 characters or more, for who knows it may ask`,
    );
  if (wire.reservationId === 0)
    throw badRequest('together.reservation_id is absent; expected the reservation that decides');
  return { groupId, manager: readText('manager_address', wire.managerAddress), reservationId: wire.reservationId };
}

/** Writes what became of several. */
export function encodeDecision(decision: GroupOutcome): DecisionWire {
  return wireOfDecisions[decision];
}

/** Reads what became of several; what a newer manager may say is not known here. */
export function decodeDecision(wire: DecisionWire): GroupOutcome {
  return decisionsOfWire.get(wire) ?? 'unknown';
}

/** Reads statuses to filter by. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeStatuses(wire: readonly StatusWire[]): ReservationStatus[] {
  return wire.map((one) => lookUp(statusesOfWire, one, 'status'));
}

/** Writes why there is no place. */
export function encodeRefusal({ code, fault, alternatives }: PlacementRefusal): RefusalWire {
  const reason = encodeReason(fault);
  return {
    code,
    message: reason.text,
    reason,
    alternatives: alternatives.map(({ startsAt, endsAt, amount, reason: different }) => ({
      startUnixMs: startsAt,
      endUnixMs: endsAt,
      amount,
      reason: encodeReason(different),
    })),
  };
}

/** Writes what became of a request. @param sign makes the claim of a reservation. */
export function encodePlacementOutcome(
  reply: PlacementReply,
  sign: (reservation: ReservationRecord) => string,
): NonNullable<RenegotiateReservationResponse['outcome']> {
  if (reply.kind === 'refused') return { $case: 'refusal', value: encodeRefusal(reply.refusal) };
  return { $case: 'reservation', value: encodeReservation(reply.reservation, sign(reply.reservation)) };
}

/** Writes an event. */
export function encodeReservationEvent(
  sequence: number,
  at: Instant,
  { type, reservation, resource, reason }: ReservationEvent,
): EventWire {
  return {
    sequence,
    atUnixMs: at,
    type,
    reason: clip(sayCause(reason)),
    cause: typeof reason === 'string' ? undefined : encodeReason(reason),
    reservation: reservation === undefined ? undefined : encodeReservation(reservation, ''),
    resource: resource === undefined ? undefined : encodeResourceFacts(resource),
  };
}
