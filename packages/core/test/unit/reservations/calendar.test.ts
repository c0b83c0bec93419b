import test from 'ava';
import {
  Calendar,
  findResourceFault,
  instantMax,
  resourceDefaults,
  type Answer,
  type PlacedReservation,
  type ReservableResource,
  type ReservationRequest,
} from '@mutirao/core/reservations';

const shared: ReservableResource = { ...resourceDefaults, kind: 'shared', capacity: 100 };
const counted: ReservableResource = { ...resourceDefaults, kind: 'counted', capacity: 4 };

function ask(
  id: number,
  amount: number,
  duration: number,
  changes: Partial<ReservationRequest> = {},
): ReservationRequest {
  return {
    id,
    userId: 'ana',
    extent: { kind: 'rigid', amount, duration },
    timing: 'advance',
    earliestStart: undefined,
    latestEnd: undefined,
    ...changes,
  };
}

function placed(answer: Answer): PlacedReservation {
  if (answer.kind === 'refused') throw new Error(answer.reason);
  return answer.reservation;
}

/** The reason, what was found and what would have been possible. */
function reported(answer: Answer): unknown[] {
  return answer.kind === 'refused' ? [answer.reason, answer.found, answer.possible] : ['placed'];
}

test('bad requests are refused with the value found and the possible ones', (t) => {
  const calendar = new Calendar({ ...shared, capPpm: 700_000, userMax: 60, durationMax: 50 }, 0);
  const cases: [ReservationRequest, unknown[]][] = [
    [ask(1, 0, 10), ['bad-amount', 0, 70]],
    [ask(1, 1.5, 10), ['bad-amount', 1.5, 70]],
    [ask(1, 10, 0), ['bad-duration', 0, 1]],
    [ask(1, 10, -5), ['bad-duration', -5, 1]],
    [ask(1, 101, 10), ['above-capacity', 101, 70]],
    [ask(1, 71, 10), ['above-cap', 71, 70]],
    [ask(1, 61, 10), ['above-user-bound', 61, 60]],
    [ask(1, 10, 51), ['too-long', 51, 50]],
    [ask(1, 10, 10, { earliestStart: 4 }), ['start-in-past', 4, 5]],
    [ask(1, 10, 10, { earliestStart: 9, latestEnd: 8 }), ['end-before-start', 8, 9]],
    [ask(1, 10, 10, { earliestStart: 9, latestEnd: 18 }), ['window-too-short', 10, 9]],
    [ask(1, 10, 10, { extent: { kind: 'malleable', work: 100, amountMin: 5, amountMax: 4 } }), ['bad-amount', 4, 70]],
  ];
  for (const [request, expected] of cases) {
    const answer = calendar.request(request, 5);
    t.deepEqual(reported(answer), expected);
  }
  t.is(calendar.count, 0);
});

test('the refusal of a resource with a fault says what would be possible', (t) => {
  t.is(findResourceFault(shared), undefined);
  t.deepEqual(findResourceFault({ ...shared, capPpm: 0 }), {
    code: 'resource-offer-invalid',
    offeredPpm: 0,
    ppmMax: 1_000_000,
  });
  t.truthy(findResourceFault({ ...counted, capacity: 2_000_000 }));
  t.truthy(findResourceFault({ ...shared, capacity: 0.5 }));
});

test('an elastic request that has another amount lasts as long as its work takes, to the millisecond', (t) => {
  const calendar = new Calendar(shared, 0);
  const hour = 3_600_000;
  for (const [amount, referenceAmount] of [
    [25, 7],
    [5, 11],
    [10, 11],
    [3, 7],
  ] as const) {
    const extent = {
      kind: 'elastic',
      amountMin: amount,
      amountMax: amount,
      referenceAmount,
      referenceDuration: hour,
    } as const;
    const { start, end } = placed(calendar.find(ask(1, 0, 0, { extent }), 0));
    t.is(
      BigInt(end - start),
      (BigInt(referenceAmount * hour) + BigInt(amount - 1)) / BigInt(amount),
      `${referenceAmount} for an hour as ${amount}`,
    );
  }
});

test('an elastic request has the place nearest to its reference', (t) => {
  const calendar = new Calendar(counted, 0);
  calendar.request(ask(1, 2, 100), 0);
  const extent = { kind: 'elastic', amountMin: 1, amountMax: 4, referenceAmount: 4, referenceDuration: 40 } as const;
  const { start, end, amount } = placed(calendar.request(ask(2, 0, 0, { extent }), 0));
  t.deepEqual(
    { start, end, amount },
    { start: 0, end: 80, amount: 2 },
    'half of the processors for twice as long, before the reference 100 later',
  );
});

test('an elastic request waits a little for its reference rather than be far from it', (t) => {
  const calendar = new Calendar(counted, 0);
  calendar.request(ask(1, 2, 10), 0);
  const extent = { kind: 'elastic', amountMin: 1, amountMax: 4, referenceAmount: 4, referenceDuration: 40 } as const;
  t.is(placed(calendar.request(ask(2, 0, 0, { extent }), 0)).start, 10);
});

test('a malleable request is done the earliest, and as narrow as that allows', (t) => {
  const calendar = new Calendar(shared, 0);
  calendar.request(ask(1, 60, 30), 0);
  const malleable = (work: number): ReservationRequest['extent'] => ({
    kind: 'malleable',
    work,
    amountMin: 10,
    amountMax: 80,
  });
  const first = placed(calendar.request(ask(2, 0, 0, { extent: malleable(1000) }), 0));
  t.deepEqual([first.start, first.end, first.amount >= 40 || first.end <= 30], [0, 25, true], '40 are free at once');
  const second = placed(calendar.request(ask(3, 0, 0, { extent: malleable(8000), earliestStart: 30 }), 0));
  t.deepEqual([second.start, second.end, second.amount], [30, 130, 80]);
});

test('alternatives are the earliest beyond the limits, and the widest and the longest within', (t) => {
  const calendar = new Calendar(shared, 0);
  calendar.request(ask(1, 70, 50, { earliestStart: 20 }), 0);
  const request = ask(2, 50, 30, { earliestStart: 0, latestEnd: 60 });
  t.is(calendar.request(request, 0).kind, 'refused');
  t.deepEqual(calendar.alternatives(request, 0), {
    earliest: { start: 70, end: 100, amount: 50 },
    widest: { start: 0, end: 30, amount: 30 },
    longest: { start: 0, end: 20, amount: 50 },
  });
});

test('alternatives to an unavailable amount are available: less, or for a shorter time', (t) => {
  const calendar = new Calendar(shared, 0);
  calendar.request(ask(1, 60, 30), 0);
  calendar.request(ask(2, 30, 50, { earliestStart: 40 }), 0);
  const request = ask(3, 80, 60, { timing: 'immediate' });
  t.is(calendar.request(request, 0).kind, 'refused');
  t.deepEqual(calendar.alternatives(request, 0), {
    earliest: { start: 90, end: 150, amount: 80 },
    widest: { start: 0, end: 60, amount: 40 },
    longest: undefined,
  });
  t.deepEqual(calendar.alternatives({ ...request, extent: { kind: 'rigid', amount: 40, duration: 200 } }, 0).longest, {
    start: 0,
    end: 200,
    amount: 40,
  });
});

test('what is above the cap has the widest as an alternative', (t) => {
  const { earliest, widest } = new Calendar({ ...shared, capPpm: 700_000 }, 0).alternatives(
    ask(1, 80, 10, { latestEnd: 20 }),
    0,
  );
  t.deepEqual([earliest, widest?.amount], [undefined, 70]);
});

test('one user never holds more than the bound at once', (t) => {
  const calendar = new Calendar({ ...shared, userMax: 50 }, 0);
  t.is(placed(calendar.request(ask(1, 40, 10), 0)).start, 0);
  t.is(placed(calendar.request(ask(2, 20, 10), 0)).start, 10);
  t.is(placed(calendar.request(ask(3, 20, 10, { userId: 'rui' }), 0)).start, 0);
});

test('a reservation above the present limit of its user moves nowhere, even if the user has no other', (t) => {
  const before = new Calendar({ ...shared, algorithm: 'suvs-p', movesMax: 5 }, 0);
  before.request(ask(1, 60, 10, { earliestStart: 2 }), 0);
  const calendar = before.withRules({ ...shared, algorithm: 'suvs-p', movesMax: 5, userMax: 50 });
  t.is(calendar.request(ask(2, 50, 10, { userId: 'rui', earliestStart: 2, latestEnd: 12 }), 0).kind, 'refused');
  t.is(calendar.get(1)?.start, 2);
  const { moved, lost } = calendar.block({ id: 1, start: 5, end: 20, resources: [], amount: 90 }, 0);
  t.deepEqual([moved.length, lost.map(({ id }) => id)], [0, [1]]);
});

test('idle resources are not available where the limit of a user, or of all, forbids them', (t) => {
  for (const [bound, reason] of [
    [{ userMax: 3 }, 'user-bound'],
    [{ capPpm: 750_000 }, 'no-room'],
  ] as const) {
    const calendar = new Calendar({ ...counted, ...bound }, 0);
    const base = { userId: 'ana', earliestStart: 0, latestEnd: undefined };
    calendar.put({ ...base, id: 1, start: 0, end: 4, amount: 2, resources: [0, 1] });
    calendar.put({ ...base, id: 2, start: 4, end: 8, amount: 2, resources: [2, 3] });
    calendar.put({ ...base, id: 3, start: 8, end: 10, amount: 3, resources: [1, 2, 3] });
    // There is room at 0, but on no one resource throughout; one is idle from 4 on, which nobody may have at 8. A
    // narrow window is swept, a wide one measured.
    const startWithin = (latestEnd: number): unknown => {
      const answer = calendar.find(ask(4, 1, 6, { latestEnd }), 0);
      return answer.kind === 'placed' ? answer.reservation.start : answer.reason;
    };
    t.deepEqual([startWithin(15), startWithin(16), startWithin(400)], [reason, 10, 10]);
  }
});

test('renegotiating counts the own place as free, keeps the id, and lets the old one stand when it is refused', (t) => {
  const calendar = new Calendar(counted, 0);
  calendar.request(ask(1, 4, 100, { earliestStart: 10 }), 0);
  const old = calendar.get(1);
  t.deepEqual(reported(calendar.renegotiate(1, ask(9, 4, 300, { earliestStart: 10, latestEnd: 200 }), 0)), [
    'window-too-short',
    300,
    190,
  ]);
  calendar.request(ask(2, 4, 50, { earliestStart: 200 }), 0);
  t.deepEqual(reported(calendar.renegotiate(1, ask(9, 4, 150, { earliestStart: 100, latestEnd: 260 }), 0)), [
    'no-room',
    4,
    0,
  ]);
  t.deepEqual(calendar.get(1), old);
  t.is(placed(calendar.renegotiate(1, ask(9, 4, 150, { earliestStart: 20 }), 0)).start, 20);
  t.deepEqual([calendar.get(1)?.end, calendar.get(9)], [170, undefined]);
  t.deepEqual(reported(calendar.renegotiate(1, ask(9, 1, 1), 30)), ['already-begun', 1, 0]);
  t.deepEqual(reported(calendar.renegotiate(7, ask(9, 1, 1), 30)), ['unknown-reservation', 7, 0]);
});

test('the capacity of a cancelled or shortened reservation is available to others', (t) => {
  const calendar = new Calendar(counted, 0);
  calendar.request(ask(1, 4, 100), 0);
  t.is(calendar.shorten(1, 30)?.end, 30);
  t.is(calendar.shorten(1, 40), undefined);
  t.is(placed(calendar.request(ask(2, 4, 10), 0)).start, 30);
  t.is(calendar.cancel(1)?.id, 1);
  t.is(calendar.cancel(1), undefined);
  t.is(placed(calendar.request(ask(3, 4, 30), 0)).start, 0);
});

test('SUVS-P moves no more than its bound, and refuses with the number that it would take', (t) => {
  const calendar = new Calendar({ ...counted, algorithm: 'suvs-p', movesMax: 2 }, 0);
  for (let id = 1; id <= 4; id += 1) calendar.request(ask(id, 1, 100, { earliestStart: 10 }), 0);
  const before = JSON.stringify(calendar.reservations());
  t.deepEqual(reported(calendar.request(ask(5, 3, 50, { earliestStart: 10, latestEnd: 70 }), 0)), [
    'too-many-moves',
    3,
    2,
  ]);
  t.is(JSON.stringify(calendar.reservations()), before);
  const answer = calendar.request(ask(6, 2, 50, { earliestStart: 10, latestEnd: 70 }), 0);
  t.deepEqual(answer.kind === 'placed' && answer.moved.map(({ id, after }) => [id, after.start]), [
    [1, 60],
    [2, 60],
  ]);
});

test('only as many are moved as are in the way, the last placed first', (t) => {
  const calendar = new Calendar({ ...shared, algorithm: 'suvs-p' }, 0);
  for (let id = 1; id <= 4; id += 1) calendar.request(ask(id, 25, 100, { earliestStart: 10 }), 0);
  const answer = calendar.request(ask(5, 25, 50, { earliestStart: 10, latestEnd: 70 }), 0);
  t.deepEqual(answer.kind === 'placed' && answer.moved.map(({ id, after }) => [id, after.start]), [[4, 60]]);
});

test('what has begun is not moved', (t) => {
  const calendar = new Calendar({ ...shared, algorithm: 'suvs-p' }, 0);
  calendar.request(ask(1, 100, 100, { earliestStart: 10 }), 0);
  t.deepEqual(reported(calendar.request(ask(2, 100, 50, { earliestStart: 20, latestEnd: 90 }), 15)), [
    'no-room',
    100,
    0,
  ]);
});

test('a failed processor sends its reservations to others, elsewhere within their limits, or off the calendar', (t) => {
  const calendar = new Calendar(counted, 0);
  calendar.request(ask(1, 4, 10), 0);
  calendar.request(ask(2, 4, 10, { earliestStart: 10, latestEnd: 20 }), 0);
  calendar.request(ask(3, 1, 10, { earliestStart: 20 }), 0);
  calendar.request(ask(4, 4, 10, { earliestStart: 30 }), 0);
  const { moved, lost } = calendar.block({ id: 1, start: 5, end: 100, resources: [0], amount: 1 }, 5);
  t.deepEqual(
    lost.map(({ id }) => id),
    [1, 2],
  );
  t.deepEqual(
    moved.map(({ id, after }) => [id, after.start, after.resources]),
    [
      [3, 20, [1]],
      [4, 100, [0, 1, 2, 3]],
    ],
  );
  calendar.checkInvariants();
  t.true(calendar.unblock(1));
  t.is(placed(calendar.request(ask(5, 4, 10, { earliestStart: 40 }), 5)).start, 40);
  calendar.checkInvariants();
});

test('a reservation that has begun is cut where a later block begins, and keeps its place until then', (t) => {
  for (const resource of [counted, shared]) {
    const isCounted = resource.kind === 'counted';
    const calendar = new Calendar(resource, 0);
    const all = isCounted ? 4 : 100;
    calendar.request(ask(1, all, 100), 0);
    calendar.request(ask(2, all, 10, { earliestStart: 100 }), 0);
    const { moved, shortened, lost } = calendar.block(
      { id: 1, start: 60, end: 80, resources: isCounted ? [0, 1, 2, 3] : [], amount: all },
      5,
    );
    t.deepEqual(
      [moved, lost, shortened.map(({ id, before, after }) => [id, before.end, after.end, after.amount])],
      [[], [], [[1, 100, 60, all]]],
    );
    t.is(calendar.get(1)?.end, 60);
    t.is(placed(calendar.request(ask(3, all, 20), 5)).start, 80);
    calendar.checkInvariants();
  }
});

test('of overlapping blocks, the end of one leaves the other in force', (t) => {
  const calendar = new Calendar(counted, 0);
  calendar.block({ id: 1, start: 0, end: 50, resources: [0, 1, 2], amount: 3 }, 0);
  calendar.block({ id: 2, start: 20, end: undefined, resources: [0], amount: 1 }, 0);
  calendar.unblock(1);
  calendar.checkInvariants();
  t.deepEqual(placed(calendar.request(ask(1, 3, 100), 0)).resources, [1, 2, 3]);
  t.deepEqual(reported(calendar.request(ask(2, 4, 100, { latestEnd: 1000 }), 0)), ['no-room', 4, 0]);
});

test('of a shared resource the least firm give way to maintenance', (t) => {
  const calendar = new Calendar(shared, 0);
  calendar.request(ask(1, 40, 10, { earliestStart: 10 }), 0);
  calendar.request(ask(2, 40, 10, { earliestStart: 10, latestEnd: 25 }), 0);
  const { moved, lost } = calendar.block({ id: 1, start: 12, end: 18, resources: [], amount: 60 }, 0);
  t.deepEqual([moved.map(({ id, after }) => [id, after.start]), lost], [[[1, 18]], []]);
  calendar.checkInvariants();
});

test('the past is forgotten, and what runs is not', (t) => {
  const calendar = new Calendar(counted, 0);
  calendar.request(ask(1, 4, 10), 0);
  calendar.request(ask(2, 2, 100), 0);
  t.deepEqual(calendar.forget(50), [1]);
  t.deepEqual(calendar.slots(50, 200), [
    { start: 50, end: 110, used: 2 },
    { start: 110, end: 200, used: 0 },
  ]);
  t.is(calendar.cancel(2)?.id, 2);
  t.deepEqual(calendar.slots(50, 200), [{ start: 50, end: 200, used: 0 }]);
});

test('memory stays bounded while time goes on', (t) => {
  const calendar = new Calendar(counted, 0);
  for (let id = 1; id <= 2000; id += 1) {
    calendar.request(ask(id, 1 + (id % 4), 7), id * 10);
    calendar.forget(id * 10);
  }
  t.true(calendar.count < 5);
  t.true(calendar.slots(-Infinity, Infinity).length < 10);
});

test('idle periods that are just long enough, on several resources at once, are found', (t) => {
  const calendar = new Calendar({ ...counted, capacity: 2 }, 0);
  calendar.request(ask(1, 2, 10), 0);
  calendar.request(ask(2, 2, 10, { earliestStart: 20 }), 0);
  t.is(placed(calendar.request(ask(3, 2, 10), 0)).start, 10);
});

test('blocks that end one after the other, in any order, leave all free', (t) => {
  for (const [first, second] of [
    [1, 2],
    [2, 1],
  ] as const) {
    for (const resource of [counted, shared]) {
      const calendar = new Calendar(resource, 0);
      calendar.block({ id: 1, start: 10, end: 30, resources: resource === counted ? [0, 1] : [], amount: 2 }, 0);
      calendar.block({ id: 2, start: 20, end: undefined, resources: resource === counted ? [1, 2] : [], amount: 2 }, 0);
      t.true(calendar.unblock(first));
      t.true(calendar.unblock(second));
      t.false(calendar.unblock(first));
      t.deepEqual(
        calendar.slots(0, 100).map(({ used }) => used),
        [0],
      );
      t.is(placed(calendar.request(ask(1, resource.capacity, 50), 0)).start, 0);
      calendar.checkInvariants();
    }
  }
});

test('where there is room but never on the same resources throughout, the place is behind what fills all', (t) => {
  const calendar = new Calendar({ ...counted, capacity: 2 }, 0);
  const base = { userId: 'ana', earliestStart: 0, latestEnd: undefined };
  calendar.put({ ...base, id: 1, start: 0, end: 10, amount: 1, resources: [0] });
  calendar.put({ ...base, id: 2, start: 10, end: 20, amount: 1, resources: [1] });
  calendar.put({ ...base, id: 3, start: 25, end: 100, amount: 2, resources: [0, 1] });
  t.is(placed(calendar.request(ask(4, 1, 15), 0)).start, 10);
  calendar.cancel(4);
  t.is(placed(calendar.request(ask(5, 1, 20), 0)).start, 100);
});

test('periods that begin together and are just long enough are found by the sweep', (t) => {
  const calendar = new Calendar(counted, 0);
  const base = { userId: 'ana', earliestStart: 0, latestEnd: undefined };
  calendar.put({ ...base, id: 1, start: 0, end: 8, amount: 2, resources: [0, 1] });
  calendar.put({ ...base, id: 2, start: 8, end: 100, amount: 2, resources: [2, 3] });
  calendar.put({ ...base, id: 3, start: 18, end: 100, amount: 2, resources: [0, 1] });
  t.like(
    placed(calendar.request(ask(4, 2, 10), 0)),
    { start: 8, resources: [0, 1] },
    'two are idle from the beginning on, but not the same two',
  );
});

test('what is away of the part that is not offered leaves the offered one whole, and an hour later may lack', (t) => {
  for (const kind of ['counted', 'shared'] as const) {
    const calendar = new Calendar({ ...resourceDefaults, kind, capacity: 16, capPpm: 500_000 }, 0);
    const units = (first: number, count: number): number[] =>
      kind === 'counted' ? Array.from({ length: count }, (_none, index) => first + index) : [];
    calendar.block({ id: 1, start: 0, end: undefined, resources: units(0, 8), amount: 8 }, 0);
    t.deepEqual(calendar.slots(0, 100), [{ start: 0, end: 100, used: 0 }], 'nothing is reserved of what is offered');
    t.is(placed(calendar.request(ask(1, 8, 10, { latestEnd: 10 }), 0)).start, 0);
    calendar.block({ id: 2, start: 20, end: 30, resources: units(8, 3), amount: 3 }, 0);
    t.deepEqual(reported(calendar.request(ask(2, 6, 10, { earliestStart: 20, latestEnd: 30 }), 0)), ['no-room', 6, 0]);
    t.is(placed(calendar.request(ask(2, 5, 10, { earliestStart: 20, latestEnd: 30 }), 0)).start, 20);
    calendar.unblock(1);
    t.is(placed(calendar.request(ask(3, 3, 10, { earliestStart: 20, latestEnd: 30 }), 0)).start, 20);
    calendar.checkInvariants();
    calendar.unblock(2);
    calendar.checkInvariants();
    t.deepEqual(
      calendar.slots(0, 40).map(({ used }) => used),
      [8, 0, 8, 0],
    );
  }
});

test('after a cap was lowered, absent capacity comes first out of the part above the cap', (t) => {
  const reservations = [1, 2, 3, 4].map((id) => ({
    id,
    userId: 'ana',
    start: 10,
    end: 20,
    amount: 20,
    resources: [],
    earliestStart: 10,
    latestEnd: 20,
  }));
  const calendar = Calendar.load({ ...shared, capPpm: 500_000 }, 0, [], reservations);
  t.deepEqual(calendar.block({ id: 1, start: 0, end: 100, resources: [], amount: 20 }, 0).lost, []);
  t.deepEqual(
    calendar.block({ id: 2, start: 0, end: 100, resources: [], amount: 1 }, 0).lost.map(({ id }) => id),
    [4],
  );
  calendar.checkInvariants();
});

test('what is in the way of a block is not put beyond the last instant', (t) => {
  const calendar = new Calendar(shared, 0);
  calendar.request(ask(1, 60, instantMax - 20, { earliestStart: 10 }), 0);
  t.deepEqual(
    calendar.block({ id: 1, start: 10, end: 40, resources: [], amount: 50 }, 0).lost.map(({ id }) => id),
    [1],
  );
});
