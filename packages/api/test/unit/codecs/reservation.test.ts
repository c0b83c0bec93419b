import test from 'ava';
import {
  decodeRules,
  decodeStatuses,
  decodeSpec,
  encodePlacementOutcome,
  encodeReservation,
  encodeReservationEvent,
  encodeResource,
  encodeUnits,
  readInstant,
  readText,
} from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { encodeReason } from '@mutirao/api/reasons';
import {
  Algorithm,
  Placement,
  Reservation,
  ReservationStatus,
  ReservationSpec,
  Resource,
  ResourceKind,
  Timing,
} from '@mutirao/api/reservation';
import type { ReservationRecord, ResourceRecord } from '@mutirao/core/messages';

const wire: ReservationSpec = {
  resourceId: 'cluster',
  amount: { $case: 'quantity', value: '30%' },
  durationMs: 60_000,
  earliestStartUnixMs: 5,
  latestEndUnixMs: undefined,
  timing: Timing.UNSPECIFIED,
};
const record: ReservationRecord = {
  place: {
    id: 3,
    userId: 'ana',
    start: 100,
    end: 200,
    amount: 4,
    resources: [0, 1, 5, 6],
    earliestStart: 50,
    latestEnd: undefined,
  },
  resourceId: 'cluster',
  status: 'held',
  holdUntil: 90,
  requestedAt: 10,
  claimedAt: 0,
  endedAt: 0,
  revision: 2,
  reason: 'free',
  clientRequestId: 'k',
  claimKey: 'secret',
};
const resource: ResourceRecord = {
  id: 'cluster',
  ownerId: 'owner',
  type: 'processors',
  kind: 'counted',
  dimension: 'count',
  total: 16,
  rules: {
    capPpm: 333_300,
    algorithm: 'suvs-p',
    placement: 'min-tip',
    durationMax: 1000,
    reservationsPerUserMax: 2,
    amountPerUserMax: 3,
    movesMax: 0,
    unclaimedMax: 4,
  },
};
const passOver = (spec: ReservationSpec): ReservationSpec =>
  ReservationSpec.decode(ReservationSpec.encode(spec).finish());
const getCode = (act: () => unknown): string => {
  try {
    act();
    return 'nothing is thrown';
  } catch (error) {
    return error instanceof MutiraoError ? error.code : String(error);
  }
};

test('a spec goes over the wire, with limits that are absent as such and zero as zero', (t) => {
  t.deepEqual(decodeSpec(passOver(wire)), {
    resourceId: 'cluster',
    amount: { kind: 'text', text: '30%' },
    duration: 60_000,
    timing: 'advance',
    earliestStart: 5,
    latestEnd: undefined,
  });
  t.like(decodeSpec(passOver({ ...wire, earliestStartUnixMs: 0, latestEndUnixMs: 0 })), {
    earliestStart: 0,
    latestEnd: 0,
  });
  t.deepEqual(
    [Timing.ADVANCE, Timing.IMMEDIATE, Timing.ON_DEMAND].map(
      (timing) => decodeSpec(passOver({ ...wire, timing })).timing,
    ),
    ['advance', 'immediate', 'on-demand'],
  );
});

test('elastic and malleable amounts keep their limits apart', (t) => {
  const elastic = { amountMin: 2, amountMax: 8, referenceAmount: 4 };
  t.deepEqual(decodeSpec(passOver({ ...wire, amount: { $case: 'elastic', value: elastic } })).amount, {
    kind: 'elastic',
    ...elastic,
  });
  const malleable = { workUnitMs: 900, amountMin: 1, amountMax: 6 };
  t.deepEqual(decodeSpec(passOver({ ...wire, amount: { $case: 'malleable', value: malleable } })).amount, {
    kind: 'malleable',
    work: 900,
    amountMin: 1,
    amountMax: 6,
  });
});

test('what no calendar knows is refused before it comes to one', (t) => {
  const bad: (() => unknown)[] = [
    () => decodeSpec(undefined),
    () => decodeSpec({ ...wire, amount: undefined }),
    () => decodeSpec({ ...wire, timing: 9 as Timing }),
    () => decodeSpec({ ...wire, earliestStartUnixMs: 253_402_300_800_000 }),
    () => decodeSpec({ ...wire, latestEndUnixMs: 2 ** 53 }),
    () => decodeSpec({ ...wire, resourceId: 'x'.repeat(1025) }),
    () => decodeSpec({ ...wire, amount: { $case: 'quantity', value: 'a\0' } }),
    () => decodeStatuses([ReservationStatus.UNSPECIFIED]),
    () => readText('reason', '\0'),
    () => readInstant('from', 1e15),
  ];
  for (const [index, act] of bad.entries()) t.is(getCode(act), 'MUT_BAD_REQUEST', String(index));
  t.is(readInstant('from', 253_402_300_799_999), 253_402_300_799_999);
});

test('rules that are absent have their defaults, and a share of nothing or of more than all is refused', (t) => {
  const usual = {
    capPpm: 1_000_000,
    algorithm: 'suvs',
    placement: 'first-fit',
    durationMax: 0,
    reservationsPerUserMax: 0,
    amountPerUserMax: 0,
    movesMax: 16,
    unclaimedMax: 0,
  };
  t.deepEqual<unknown, unknown>(decodeRules(undefined), usual);
  const rules = {
    capPercent: undefined,
    algorithm: Algorithm.SUVS_P,
    placement: Placement.MIN_LIP,
    durationMsMax: 7,
    reservationsPerUserMax: 0,
    amountPerUserMax: 0,
    movesMax: 0,
    unclaimedMsMax: 9,
  };
  t.deepEqual<unknown, unknown>(decodeRules(rules), {
    ...usual,
    algorithm: 'suvs-p',
    placement: 'min-lip',
    durationMax: 7,
    movesMax: 0,
    unclaimedMax: 9,
  });
  t.is(decodeRules({ ...rules, capPercent: 33.33 }).capPpm, 333_300);
  t.is(decodeRules({ ...rules, capPercent: 0.000_001 }).capPpm, 1, 'never nothing');
  for (const capPercent of [0, -1, 100.1, NaN])
    t.is(
      getCode(() => decodeRules({ ...rules, capPercent })),
      'MUT_BAD_REQUEST',
      String(capPercent),
    );
});

test('units are written as ranges', (t) => {
  t.deepEqual(encodeUnits([]), []);
  t.deepEqual(encodeUnits([0, 1, 2, 7, 9, 10]), [
    { first: 0, count: 3 },
    { first: 7, count: 1 },
    { first: 9, count: 2 },
  ]);
});

test('a reservation is written with its claim, and never with the key of the claim that began its use', (t) => {
  const reported = Reservation.decode(Reservation.encode(encodeReservation(record, 'a.b.c')).finish());
  t.deepEqual(reported, {
    reservationId: 3,
    resourceId: 'cluster',
    userId: 'ana',
    status: ReservationStatus.HELD,
    startUnixMs: 100,
    endUnixMs: 200,
    amount: 4,
    units: [
      { first: 0, count: 2 },
      { first: 5, count: 2 },
    ],
    earliestStartUnixMs: 50,
    latestEndUnixMs: undefined,
    holdUntilUnixMs: 90,
    requestedUnixMs: 10,
    claimedUnixMs: 0,
    endedUnixMs: 0,
    revision: 2,
    reason: { code: '', parameters: {}, text: 'free' },
    clientRequestId: 'k',
    claim: 'a.b.c',
    together: undefined,
    provisioning: undefined,
  });
  t.false(JSON.stringify(reported).includes('secret'));
  const names = decodeStatuses([
    ReservationStatus.HELD,
    ReservationStatus.CONFIRMED,
    ReservationStatus.CLAIMED,
    ReservationStatus.RELEASED,
    ReservationStatus.EXPIRED,
    ReservationStatus.CANCELLED,
  ]);
  t.deepEqual(names, ['held', 'confirmed', 'claimed', 'released', 'expired', 'cancelled']);
});

test('a resource is written with its failures and announced outages, and its rules survive the wire', (t) => {
  const outage = {
    id: 1,
    name: '',
    startsAt: 1,
    endsAt: 0,
    amount: 2,
    units: [9, 3],
    reason: 'smoke',
    kind: 'failure' as const,
  };
  const maintenance = {
    ...outage,
    id: 2,
    name: 'disks',
    endsAt: 50,
    units: [4],
    amount: 1,
    kind: 'maintenance' as const,
  };
  const reported = Resource.decode(
    Resource.encode(encodeResource({ resource, outages: [outage, maintenance], livingCount: 7 })).finish(),
  );
  t.like(reported, {
    resourceId: 'cluster',
    kind: ResourceKind.UNITS,
    total: 16,
    failed: 2,
    reservationCount: 7,
    unit: '',
  });
  t.deepEqual(reported.failedUnits, [
    { first: 3, count: 1 },
    { first: 9, count: 1 },
  ]);
  t.deepEqual(reported.maintenances, [
    {
      maintenanceId: 'disks',
      startUnixMs: 1,
      endUnixMs: 50,
      amount: 1,
      units: [{ first: 4, count: 1 }],
      reason: 'smoke',
    },
  ]);
  t.deepEqual(decodeRules(reported.rules), resource.rules);
});

test('an outcome is a reservation with its claim, or a refusal with what would be possible; an event has no claim', (t) => {
  t.like(
    encodePlacementOutcome(
      { kind: 'placed', reservation: record, movedCount: 0 },
      ({ place }) => `claim of ${place.id}`,
    ),
    { $case: 'reservation', value: { claim: 'claim of 3' } },
  );
  const refusal = {
    code: 'MUT_NO_ROOM',
    fault: { code: 'above-user-amount', amount: 9000, amountMax: 7000, dimension: 'bytes-per-second' } as const,
    alternatives: [{ startsAt: 1, endsAt: 2, amount: 3, reason: { code: 'alternative-later' } as const }],
  };
  t.deepEqual<unknown, unknown>(
    encodePlacementOutcome({ kind: 'refused', refusal }, () => ''),
    {
      $case: 'refusal',
      value: {
        code: 'MUT_NO_ROOM',
        message: '9 KB/s exceeds what one user may reserve; expected at most 7 KB/s',
        reason: encodeReason(refusal.fault),
        alternatives: [
          { startUnixMs: 1, endUnixMs: 2, amount: 3, reason: encodeReason({ code: 'alternative-later' }) },
        ],
      },
    },
  );
  const event = encodeReservationEvent(8, 77, {
    type: 'reservation.moved',
    resourceId: 'cluster',
    reservation: record,
    resource: undefined,
    reason: 'why',
  });
  t.like(event, {
    sequence: 8,
    atUnixMs: 77,
    type: 'reservation.moved',
    reason: 'why',
    resource: undefined,
    reservation: { reservationId: 3, claim: '' },
  });
});
