import test from 'ava';
import fc from 'fast-check';
import {
  createReservationsState,
  isLiving,
  reservationsMachine,
  type ReservationsState,
} from '@mutirao/core/machines/reservations';
import { checkNothingOvercommitted, ReservationsHarness, reservationsOptions, runs } from '@mutirao/testkit';

const user = fc.constantFrom('ana', 'bob', 'eva');
const resource = fc.constantFrom('cluster', 'net');
const instant = fc.integer({ min: 0, max: 400 });

const request = fc
  .record({
    user,
    resource,
    percent: fc.integer({ min: 1, max: 100 }),
    duration: fc.integer({ min: 1, max: 90 }),
    from: fc.option(instant),
    laxity: fc.option(fc.integer({ min: 0, max: 150 })),
    hold: fc.option(fc.integer({ min: 1, max: 60 }), { freq: 1 }),
    key: fc.option(fc.constantFrom('a', 'b', 'c'), { freq: 1 }),
    timing: fc.constantFrom('', '', '', ' immediate', ' on-demand'),
  })
  .map(({ user: userId, resource: of, percent, duration, from, laxity, hold, key, timing }) => {
    const isNow = timing !== '';
    const until = laxity === null || isNow ? '' : ` until ${(from ?? 0) + duration + laxity}`;
    const start = from === null || isNow ? '' : ` from ${from}`;
    return (
      `${userId} wants ${percent}% of ${of} for ` +
      `${duration}${start}${until}${hold === null ? '' : ` hold ${hold}`}${key === null ? '' : ` key ${key}`}${timing}`
    );
  });
const id = fc.integer({ min: 1, max: 12 });
const line = fc.oneof(
  { weight: 6, arbitrary: request },
  {
    weight: 2,
    arbitrary: fc
      .tuple(user, id, fc.constantFrom('confirms', 'cancels', 'releases'))
      .map(([userId, one, verb]) => `${userId} ${verb} ${one}`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(user, id, id, fc.constantFrom('', ' at h:1'))
      .map(([userId, one, decider, at]) => `${userId} prepares ${one} with ${decider}${at}`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(id, fc.constantFrom('committed', 'aborted'))
      .map(([one, decision]) => `ana learns ${one} ${decision}`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(user, id, fc.integer({ min: 1, max: 100 }), instant)
      .map(([userId, one, percent, from]) => `${userId} renegotiates ${one} ${percent}% for 40 from ${from}`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(user, id, fc.constantFrom('a', 'b'))
      .map(([userId, one, key]) => `${userId} claims ${one} key ${key}`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(resource, fc.integer({ min: 1, max: 3 }), fc.constantFrom('fails', 'restores'))
      .map(([of, amount, verb]) => `owner ${verb} ${of} amount ${amount}`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(resource, instant, fc.integer({ min: 1, max: 99 }), fc.constantFrom('', ' amount 2', ' amount 4'))
      .map(
        ([of, from, length, amount]) => `owner maintains ${of} m${from} from ${from} until ${from + length}${amount}`,
      ),
  },
  { weight: 1, arbitrary: fc.tuple(resource, instant).map(([of, from]) => `owner withdraws ${of} m${from}`) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 60 }).map((step) => `pass ${step}`) },
  { weight: 1, arbitrary: fc.constantFrom('restart', 'started') },
);

const rules = fc
  .tuple(
    resource,
    fc.constantFrom(40, 100),
    fc.constantFrom('', ' suvs-p moves 3'),
    fc.constantFrom('', ' amount-per-user 4', ' amount-per-user 2'),
    fc.constantFrom('', ' unclaimed 10', ' unclaimed 50'),
  )
  .map(([of, cap, algorithm, bound, unclaimed]) => `owner rules ${of} cap ${cap}${algorithm}${bound}${unclaimed}`);
const lineOrRules = fc.oneof({ weight: 20, arbitrary: line }, { weight: 1, arbitrary: rules });

/**
 * A harness with two resources, on which lines of the generator are performed; a claim can be shown only of what there
 * is.
 */
function converse(harness: ReservationsHarness, one: string): string[] {
  const [, verb, number] = one.split(' ');
  if (verb === 'claims' && !harness.state.reservations.has(Number(number))) return [];
  return harness.perform(one.startsWith('pass ') ? `at ${harness.now + Number(one.slice(5))}` : one);
}

function begin(isMoving: boolean, capPercent = 100): ReservationsHarness {
  const harness = new ReservationsHarness();
  harness.now = 1;
  const rules = `${isMoving ? ' suvs-p moves 3' : ''} unclaimed 30 cap ${capPercent}`;
  harness.perform(`owner offers cluster 6${rules}`);
  harness.perform(`owner offers net 10B/s${rules}`);
  return harness;
}

test('whatever users and owners do, nothing is over-committed, and replay and restarts give the same state', (t) => {
  fc.assert(
    fc.property(
      fc.array(lineOrRules, { maxLength: 40, size: 'max' }),
      fc.boolean(),
      fc.constantFrom(100, 50),
      (lines, isMoving, capPercent) => {
        const harness = begin(isMoving, capPercent);
        for (const one of lines) {
          converse(harness, one);
          checkNothingOvercommitted(harness.state, harness.asked);
        }
        harness.checkReplay();
      },
    ),
    runs(20_261_122, 150),
  );
  t.pass();
});

test('a manager that dies after any change goes on from there, over-commits nothing, and answers what it had answered', (t) => {
  fc.assert(
    fc.property(
      fc.array(lineOrRules, { maxLength: 30, size: 'max' }),
      fc.boolean(),
      fc.nat(),
      (lines, isMoving, cut) => {
        const first = begin(isMoving);
        for (const one of lines) converse(first, one);
        const kept = first.changes.slice(0, 2 + (cut % (first.changes.length - 1)));
        const second = new ReservationsHarness();
        second.state = createReservationsState(reservationsOptions);
        for (const { change, at } of kept) {
          reservationsMachine.apply(second.state, change);
          reservationsMachine.checkInvariants(second.state);
          checkNothingOvercommitted(second.state);
          second.now = at;
          second.changes.push({ change, at });
        }
        const placed = new Map(
          [...second.state.reservations].map(
            ([
              number,
              {
                place: { userId },
              },
            ]) => [number, userId],
          ),
        );
        // Users repeat what they asked for; those with a key get what they had.
        for (const one of lines) {
          converse(second, one);
          checkNothingOvercommitted(second.state);
        }
        for (const [number, userId] of placed)
          if (second.state.reservations.get(number)?.place.userId !== userId)
            throw new Error(`reservation ${number} is gone`);
        second.checkReplay();
      },
    ),
    runs(20_261_123, 120),
  );
  t.pass();
});

type ResourceEntry = ReservationsState['resources'] extends Map<string, infer Entry> ? Entry : never;

interface SlowWant {
  readonly resourceId: string;
  readonly amount: number;
  readonly duration: number;
  readonly from: number;
  readonly startMax: number;
}

/**
 * The earliest start of an amount by trying every instant and counting what is reserved, of what is offered, and what
 * is away, of what there is; undefined when
 * there is none. Knows no calendar; that as many are away as the owner said is `checkNothingOvercommitted`'s to see.
 */
function findSlowly(
  state: ReservationsState,
  { resourceId, amount, duration, from, startMax }: SlowWant,
): number | undefined {
  const {
    resource: { total, rules },
    outages,
  } = state.resources.get(resourceId) as ResourceEntry;
  const offered = Math.floor((total * rules.capPpm) / 1e6);
  const reserved = [...state.reservations.values()]
    .filter((one) => isLiving(one) && one.resourceId === resourceId)
    .map(({ place: { start, end, amount: used, resources } }) => ({ start, end, used, resources }));
  const away = [...outages.values()].map(({ startsAt, endsAt, amount: used, units }) => ({
    start: startsAt,
    end: endsAt === 0 ? Infinity : endsAt,
    used,
    resources: units,
  }));
  for (let start = from; start <= Math.min(startMax, 3000); start += 1) {
    const beside = [...reserved, ...away].filter((one) => one.start < start + duration && one.end > start);
    const units = new Set(beside.flatMap(({ resources }) => resources));
    const usedAt = (some: typeof beside, at: number): number =>
      some.reduce((sum, one) => sum + (one.start <= at && at < one.end ? one.used : 0), amount);
    const isFree =
      (resourceId !== 'cluster' || total - units.size >= amount) &&
      [start, ...beside.map((one) => one.start).filter((at) => at > start)].every(
        (at) => usedAt(reserved, at) <= offered && (resourceId === 'cluster' || usedAt(beside, at) <= total),
      );
    if (isFree) return start;
  }
  return undefined;
}

/** A request of rigid shape in words, as the reference takes it; undefined for any other line. */
function readRequest(one: string, now: number): SlowWant | undefined {
  const found =
    /^\w+ wants (?<percent>\d+)% of (?<of>\w+) for (?<duration>\d+)(?: from (?<from>\d+))?(?: until (?<until>\d+))?(?: hold \d+)?$/.exec(
      one,
    )?.groups;
  if (found === undefined) return undefined;
  const resourceId = found['of'] ?? '';
  const duration = Number(found['duration']);
  const amount = Math.ceil((Number(found['percent']) * (resourceId === 'cluster' ? 6 : 10)) / 100 - 1e-9);
  return {
    resourceId,
    amount,
    duration,
    from: Number(found['from'] ?? now),
    startMax: Number(found['until'] ?? Infinity) - duration,
  };
}

/** Performs a line; answers the start that a request has, and the one that it should have. */
function compareStart(
  harness: ReservationsHarness,
  one: string,
): { readonly found: number | undefined; readonly expected: number | undefined } | undefined {
  // What is due ends before a request is looked at.
  harness.perform(`at ${harness.now}`);
  const { now, state } = harness;
  const asked = readRequest(one, now);
  const expected = asked === undefined || asked.from < now ? undefined : findSlowly(state, asked);
  const next = state.nextReservationId;
  converse(harness, one);
  checkNothingOvercommitted(state, harness.asked);
  // One that was there before may be the answer to a repeated request.
  return asked === undefined ? undefined : { found: state.reservations.get(next)?.place.start, expected };
}

test('a request has the earliest start that trying every instant finds, and none where it finds none', (t) => {
  let [dispatchedCount, refusedCount] = [0, 0];
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40, size: 'max' }), fc.constantFrom(100, 50), (lines, capPercent) => {
      const harness = begin(false, capPercent);
      for (const one of lines) {
        const compared = compareStart(harness, one);
        if (compared === undefined) continue;
        const { found, expected } = compared;
        if (found !== expected)
          throw new Error(`${one} at ${harness.now} starts at ${String(found)}; expected ${String(expected)}`);
        if (found === undefined) refusedCount += 1;
        else dispatchedCount += 1;
      }
    }),
    runs(20_261_124, 250),
  );
  t.log(`${dispatchedCount} placed, ${refusedCount} refused`);
  t.true(dispatchedCount > 300 && refusedCount > 100);
});
