import test from 'ava';
import fc from 'fast-check';
import {
  Calendar,
  instantMax,
  resourceDefaults,
  type Answer,
  type PlacedReservation,
  type ReservableResource,
  type ReservationRequest,
} from '@mutirao/core/reservations';
import { CountedCandidates, runs, VariableSlots, type SlotWant } from '@mutirao/testkit';

const capacity = 8;

/** What happens to a calendar, at instants below 60. */
const event = fc.record({
  kind: fc.constantFrom('request', 'request', 'request', 'request', 'cancel'),
  amount: fc.integer({ min: 1, max: capacity }),
  duration: fc.integer({ min: 1, max: 12 }),
  from: fc.integer({ min: 0, max: 40 }),
  /** More than the duration; none when it is large. */
  spare: fc.integer({ min: 0, max: 30 }),
});
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

function getWant({ amount, duration, from, spare }: Event, id: number): SlotWant {
  return { id, amount, duration, from, latestEnd: spare > 22 ? Infinity : from + duration + spare };
}

function findRequest({ id, amount, duration, from, latestEnd }: SlotWant): ReservationRequest {
  return {
    id,
    userId: 'ana',
    extent: { kind: 'rigid', amount, duration },
    timing: 'advance',
    earliestStart: from,
    latestEnd: latestEnd < Infinity ? latestEnd : undefined,
  };
}

function aResource(kind: ReservableResource['kind'], changes: Partial<ReservableResource> = {}): ReservableResource {
  return { ...resourceDefaults, kind, capacity, ...changes };
}

function findPlaced(answer: Answer): PlacedReservation | undefined {
  return answer.kind === 'placed' ? answer.reservation : undefined;
}

const getWindows = (reservations: Iterable<{ id: number; start: number; end: number }>): string[] =>
  [...reservations].map(({ id, start, end }) => `${id}: ${start}-${end}`).sort();

test('a shared calendar places where SUVS over a linear list of Variable Slots does', (t) => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const calendar = new Calendar(aResource('shared'), 0);
      const list = new VariableSlots(capacity);
      for (const [id, each] of events.entries()) {
        const want = getWant(each, id);
        if (each.kind === 'request') {
          if (findPlaced(calendar.request(findRequest(want), 0))?.start !== list.request(want)?.start) return false;
        } else {
          calendar.cancel(each.from);
          list.cancel(each.from);
        }
        if (id % 16 === 0) calendar.checkInvariants();
      }
      return String(getWindows(calendar.reservations())) === String(getWindows(list.reservations.values()));
    }),
    runs(20_250_101, 1000),
  );
  t.pass();
});

test('a shared calendar moves those of low priority as SUVS-P over a linear list does', (t) => {
  let movedCount = 0;
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const calendar = new Calendar(
        aResource('shared', { algorithm: 'suvs-p', inTheWay: 'covered', movesMax: 1000 }),
        -1,
      );
      const list = new VariableSlots(capacity);
      for (const [id, each] of events.entries()) {
        const want = getWant(each, id);
        const answer = calendar.request(findRequest(want), -1);
        if (findPlaced(answer)?.start !== list.requestWithPriority(want)?.placed.start) return false;
        if (answer.kind === 'placed') movedCount += answer.moved.length;
        if (id % 16 === 0) calendar.checkInvariants();
        if (String(getWindows(calendar.reservations())) !== String(getWindows(list.reservations.values())))
          return false;
      }
      return true;
    }),
    runs(20_250_102, 600),
  );
  t.log(`${movedCount} moves`);
  t.true(movedCount > 50);
});

test('a counted calendar places, on the same resources, where trying each candidate start does', (t) => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 50 }), (events) => {
      const calendar = new Calendar(aResource('counted'), 0);
      const candidates = new CountedCandidates(capacity);
      for (const [id, each] of events.entries()) {
        const want = getWant(each, id);
        if (each.kind === 'request') {
          const placed = findPlaced(calendar.request(findRequest(want), 0));
          const expected = candidates.request(want);
          if (placed?.start !== expected?.start || String(placed?.resources) !== String(expected?.resources))
            return false;
        } else {
          calendar.cancel(each.from);
          candidates.reservations.delete(each.from);
        }
        if (id % 16 === 0) calendar.checkInvariants();
      }
      return true;
    }),
    runs(20_250_103, 800),
  );
  t.pass();
});

test('a loaded calendar answers as the one whose reservations it has', (t) => {
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 40 }),
      fc.array(event, { maxLength: 20 }),
      fc.constantFrom('shared', 'counted'),
      (before, after, kind) => {
        const resource = aResource(kind, { algorithm: 'suvs-p', userMax: 6 });
        const calendar = new Calendar(resource, -1);
        for (const [id, each] of before.entries()) calendar.request(findRequest(getWant(each, id)), -1);
        const twin = Calendar.load(resource, -1, [], calendar.reservations());
        const replayed = new Calendar(resource, -1);
        for (const each of calendar.reservations()) replayed.put(each);
        for (const [index, each] of after.entries()) {
          const request = findRequest(getWant(each, 100 + index));
          const answer = JSON.stringify(calendar.request(request, -1));
          if (
            answer !== JSON.stringify(twin.request(request, -1)) ||
            answer !== JSON.stringify(replayed.request(request, -1))
          )
            return false;
        }
        twin.checkInvariants();
        return JSON.stringify(calendar.reservations()) === JSON.stringify(twin.reservations());
      },
    ),
    runs(20_250_104, 500),
  );
  t.pass();
});

const action = fc.record({
  kind: fc.constantFrom(
    'request',
    'request',
    'try',
    'request',
    'renegotiate',
    'shorten',
    'block',
    'unblock',
    'cancel',
    'forget',
  ),
  event,
  id: fc.integer({ min: 0, max: 30 }),
  userId: fc.constantFrom('ana', 'rui'),
  at: fc.integer({ min: 0, max: 5 }),
});
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Does one thing to a calendar; answers false when what came of it breaks a promise. */
function isKept(calendar: Calendar, { kind, event: each, id, userId }: Action, next: number, now: number): boolean {
  const { duration, amount, spare } = each;
  const want = getWant({ ...each, from: Math.max(now, each.from) }, next);
  const before = JSON.stringify(calendar.reservations());
  switch (kind) {
    case 'cancel':
      calendar.cancel(id);
      return true;
    case 'shorten':
      calendar.shorten(id, now + duration);
      return true;
    case 'unblock':
      calendar.unblock(id % 3);
      return true;
    case 'forget':
      calendar.forget(now);
      return true;
    case 'block':
      if (calendar.blocks().every((other) => other.id !== id % 3))
        calendar.block(
          {
            id: id % 3,
            start: now + spare,
            end: now + spare + duration,
            resources: [id % capacity],
            amount: 1 + (amount % 4),
          },
          now,
        );
      return true;
    case 'try': {
      const tried = JSON.stringify(calendar.tryRequest({ ...findRequest(want), userId }, now));
      return (
        JSON.stringify(calendar.reservations()) === before &&
        tried === JSON.stringify(calendar.request({ ...findRequest(want), userId }, now))
      );
    }
    default: {
      const answer =
        kind === 'request'
          ? calendar.request({ ...findRequest(want), userId }, now)
          : calendar.renegotiate(id, { ...findRequest(want), userId }, now);
      if (answer.kind === 'refused') return JSON.stringify(calendar.reservations()) === before;
      const { reservation, moved } = answer;
      return (
        reservation.start >= want.from &&
        reservation.end <= want.latestEnd &&
        moved.length <= calendar.resource.movesMax &&
        moved.every(
          ({ before: old, after }) =>
            old.latestEnd === undefined &&
            old.start > now &&
            after.start >= old.earliestStart &&
            after.end - after.start === old.end - old.start,
        )
      );
    }
  }
}

/** Whether nothing is had twice: what is used, by all and by each user, and which resources. */
function isSound(calendar: Calendar): boolean {
  const { resource } = calendar;
  const all = calendar.reservations();
  return all.every((one) => {
    const beside = all.filter((other) => other.start <= one.start && other.end > one.start);
    const sum = (some: readonly PlacedReservation[]): number => some.reduce((total, { amount }) => total + amount, 0);
    const named = beside.flatMap(({ resources }) => resources);
    return (
      sum(beside) <= Math.floor((capacity * resource.capPpm) / 1e6) &&
      sum(beside.filter(({ userId }) => userId === one.userId)) <= (resource.userMax ?? Infinity) &&
      new Set(named).size === named.length &&
      (resource.kind === 'shared' || one.resources.length === one.amount)
    );
  });
}

test('whatever happens to a calendar, nothing is promised twice, no reservation moves beyond its limits, and a refusal changes nothing', (t) => {
  const resources = fc.record({
    kind: fc.constantFrom('shared', 'counted'),
    algorithm: fc.constantFrom('suvs', 'suvs-p'),
    inTheWay: fc.constantFrom('covered', 'needed'),
    siteSelection: fc.constantFrom('first-fit', 'min-lip', 'min-tip'),
    movesMax: fc.integer({ min: 0, max: 4 }),
    capPpm: fc.constantFrom(1_000_000, 750_000),
    userMax: fc.constantFrom(undefined, 5),
  });
  fc.assert(
    fc.property(resources, fc.array(action, { maxLength: 50 }), (resource, actions) => {
      const calendar = new Calendar(aResource(resource.kind, resource), 0);
      let now = 0;
      for (const [index, each] of actions.entries()) {
        now += each.at === 5 ? 3 : 0;
        if (!isKept(calendar, each, index, now) || !isSound(calendar)) return false;
      }
      calendar.checkInvariants();
      return true;
    }),
    runs(20_250_105, 800),
  );
  t.pass();
});

/**
 * Thousands of actions, drawn by a counter's digits: enough for indexes of several levels, which a handful of
 * reservations never has.
 */
function fillAndEmpty(calendar: Calendar, turns: number): void {
  let state = 1;
  const draw = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  for (let id = 1; id <= turns; id += 1) {
    // It fills at first, and empties in the end.
    if (draw(turns) > id)
      calendar.request(
        findRequest({
          id,
          amount: 1 + draw(5),
          duration: 1 + draw(400),
          from: draw(20_000),
          latestEnd: draw(3) === 0 ? Infinity : 30_000,
        }),
        -1,
      );
    else calendar.cancel(draw(turns));
    if (draw(10) === 0) calendar.shorten(draw(id), draw(20_000));
    if (id % 1000 === 0) calendar.checkInvariants();
  }
  calendar.checkInvariants();
}

test('the summaries of a large calendar match its parts, while it fills and empties, and after it is loaded', (t) => {
  for (const [kind, capacityOf] of [
    ['counted', 40],
    ['shared', 60],
  ] as const) {
    const resource = aResource(kind, { capacity: capacityOf, algorithm: 'suvs-p', userMax: 50 });
    const calendar = new Calendar(resource, -1);
    fillAndEmpty(calendar, 4000);
    const loaded = Calendar.load(resource, -1, [], calendar.reservations());
    loaded.checkInvariants();
    t.true(calendar.count > 500 && loaded.count === calendar.count, `${calendar.count} reservations`);
  }
});

test('a long way is passed over where nothing is free, and the place is that of the list', (t) => {
  const calendar = new Calendar(aResource('shared'), 0);
  const list = new VariableSlots(capacity);
  const ask = (want: SlotWant): void => {
    t.is(findPlaced(calendar.request(findRequest(want), 0))?.start, list.request(want)?.start, JSON.stringify(want));
  };
  for (let id = 0; id < 600; id += 1)
    ask({ id, amount: 3 + (id % 5), duration: 40 + (id % 7), from: 50 * id, latestEnd: Infinity });
  for (let id = 600; id < 640; id += 1)
    ask({ id, amount: 1 + (id % 8), duration: 1 + (id % 11), from: 0, latestEnd: Infinity });
});

const edge = fc.oneof(
  fc.constantFrom(1, instantMax - 1, instantMax, instantMax + 1, Number.MAX_SAFE_INTEGER),
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
);

type Asked = Omit<ReservationRequest, 'id' | 'userId'>;

/** One that may end a millisecond behind the last instant, and a failure that it has to make way for. */
const failedBehindTheLast: readonly Asked[] = [
  {
    extent: { kind: 'rigid', amount: 6, duration: instantMax - 1 },
    timing: 'advance',
    earliestStart: undefined,
    latestEnd: instantMax,
  },
  ...Array.from(
    { length: 5 },
    () =>
      ({
        extent: { kind: 'rigid', amount: 1, duration: 1 },
        timing: 'advance',
        earliestStart: undefined,
        latestEnd: undefined,
      }) as const,
  ),
  {
    extent: { kind: 'elastic', amountMin: 1, amountMax: 1, referenceAmount: 1, referenceDuration: 1 },
    timing: 'advance',
    earliestStart: undefined,
    latestEnd: instantMax + 1,
  },
];

test('no instant of an answer is beyond the last one that a calendar knows', (t) => {
  let placedCount = 0;
  const extent = fc.oneof(
    fc.record({ kind: fc.constant('rigid' as const), amount: fc.integer({ min: 1, max: capacity }), duration: edge }),
    fc.record({
      kind: fc.constant('elastic' as const),
      amountMin: fc.constant(1),
      amountMax: fc.integer({ min: 1, max: capacity }),
      referenceAmount: fc.integer({ min: 1, max: 20 }),
      referenceDuration: edge,
    }),
    fc.record({
      kind: fc.constant('malleable' as const),
      work: edge,
      amountMin: fc.constant(1),
      amountMax: fc.integer({ min: 1, max: capacity }),
    }),
  );
  const asked = fc.record({
    extent,
    timing: fc.constantFrom('advance', 'immediate', 'on-demand'),
    earliestStart: fc.option(edge, { nil: undefined }),
    latestEnd: fc.option(edge, { nil: undefined }),
  });
  const isWithin = (kind: 'shared' | 'counted', requests: readonly Asked[]): boolean => {
    const calendar = new Calendar(aResource(kind, { algorithm: 'suvs-p' }), 0);
    for (const [id, one] of requests.entries()) {
      const request = { ...one, id, userId: 'ana' };
      const { earliest, widest, longest } = calendar.alternatives(request, 1);
      if (calendar.request(request, 1).kind === 'placed') placedCount += 1;
      if (id === 6) calendar.block({ id: 1, start: 2, end: undefined, resources: [0, 1], amount: 2 }, 1);
      if ([earliest, widest, longest, ...calendar.reservations()].some((window) => (window?.end ?? 0) > instantMax))
        return false;
    }
    return true;
  };
  t.true(isWithin('shared', failedBehindTheLast));
  fc.assert(
    fc.property(fc.constantFrom('shared', 'counted'), fc.array(asked, { maxLength: 12 }), isWithin),
    runs(20_250_106, 400),
  );
  t.true(placedCount > 300, `${placedCount} were placed`);
});
