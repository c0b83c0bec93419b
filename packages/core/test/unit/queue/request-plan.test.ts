import test from 'ava';
import { conservativeBackfilling, RequestPlan } from '@mutirao/core/queue';
import { InvariantError } from '@mutirao/core/shared';

/** Request 1 runs on 6 of 10 processors until 100; request 2 waits with a place on 8 at 100. */
function twoRequests(): RequestPlan {
  const plan = new RequestPlan(10, 0);
  plan.add(1, 6, 100);
  plan.place(1, 0);
  plan.start(1);
  plan.add(2, 8, 50);
  plan.place(2, 100);
  return plan;
}

test('a placed request holds its processors from its start to its walltime', (t) => {
  t.deepEqual(
    [...twoRequests().profile.segments()].map(({ start, free }) => [start, free]),
    [
      [0, 4],
      [100, 2],
      [150, 10],
    ],
  );
});

test('a request that moves leaves its old place', (t) => {
  const plan = twoRequests();
  plan.place(2, 120);
  t.deepEqual(
    [...plan.profile.segments()].map(({ start, free }) => [start, free]),
    [
      [0, 4],
      [100, 10],
      [120, 2],
      [170, 10],
    ],
  );
  t.is(plan.nextStart, 120);
});

test('a request that loses its place leaves it, and is the first without one', (t) => {
  const plan = twoRequests();
  plan.add(3, 1, 10);
  t.is(plan.firstUnplaced?.id, 3);
  plan.place(2, undefined);
  t.deepEqual(
    [...plan.profile.segments()].map(({ start, free }) => [start, free]),
    [
      [0, 4],
      [100, 10],
    ],
  );
  t.deepEqual([plan.firstUnplaced?.id, plan.nextStart, plan.waiting.get(2)?.startsAt], [2, Infinity, undefined]);
  plan.place(2, undefined);
  plan.place(2, 100);
  t.deepEqual([plan.firstUnplaced?.id, plan.findDue(100).map(({ id }) => id)], [3, [2]]);
  // Also one that is due, as long as it has not started.
  plan.place(2, undefined);
  t.deepEqual([plan.firstUnplaced?.id, plan.findDue(100).length, plan.countUnheld(100)], [2, 0, 4]);
});

test('an end gives back the rest of a running request and the whole of a waiting one', (t) => {
  const plan = twoRequests();
  plan.end(1, 30);
  plan.end(2, 30);
  plan.forget(30);
  t.is(plan.profile.segmentCount, 1);
  t.is(plan.running.size + plan.waiting.size, 0);
});

test('an end after the walltime gives nothing back', (t) => {
  const plan = twoRequests();
  plan.end(1, 104);
  t.is(plan.profile.freeAt(104), 2);
});

const untilFreeAt =
  (plan: RequestPlan, now: number) =>
  (width: number): number =>
    plan.profile.endOfFree(width, now);

test('a request can start now where only its own later place is in the way', (t) => {
  const plan = twoRequests();
  plan.end(1, 70);
  t.is(plan.findStartable(70, 10, untilFreeAt(plan, 70))?.id, 2);
});

test('a request cannot start now where another would be delayed', (t) => {
  const plan = twoRequests();
  plan.add(3, 3, 200);
  plan.place(3, 150);
  t.is(plan.findStartable(0, 4, untilFreeAt(plan, 0)), undefined);
  plan.add(4, 2, 200);
  t.is(plan.findStartable(0, 4, untilFreeAt(plan, 0))?.id, 4);
});

test('a request that is due, or wider than what is asked for, is not startable', (t) => {
  const plan = twoRequests();
  plan.end(1, 70);
  t.is(
    plan.findStartable(70, 7, () => Infinity),
    undefined,
  );
  t.is(
    plan.findStartable(100, 10, () => Infinity),
    undefined,
  );
  plan.place(2, 130);
  t.is(plan.findStartable(100, 10, () => Infinity)?.id, 2);
});

test('of the startable requests the one that arrived first is found, whatever its width', (t) => {
  const plan = new RequestPlan(10, 0);
  for (const [id, width] of [
    [1, 9],
    [2, 5],
    [3, 1],
    [4, 5],
  ] as const)
    plan.add(id, width, 10 * id);
  t.is(plan.findStartable(0, 8, () => 40)?.id, 2);
  t.is(plan.findStartable(0, 4, () => 40)?.id, 3);
  plan.end(2, 0);
  t.is(plan.findStartable(0, 8, (width) => (width === 5 ? 40 : 0))?.id, 4);
  t.is(
    plan.findStartable(0, 8, () => 29),
    undefined,
  );
});

test('a copy does not follow its original', (t) => {
  const plan = twoRequests();
  plan.add(3, 1, 5);
  const copy = plan.clone();
  plan.end(1, 30);
  plan.place(2, 30);
  t.deepEqual([copy.nextStart, copy.waiting.size, copy.running.size, copy.firstUnplaced?.id], [100, 2, 1, 3]);
  t.is(copy.getWaiting(2).startsAt, 100);
  t.is(copy.profile.freeAt(30), 4);
});

test('the earliest place of a request counts its own place as free and leaves it where it is', (t) => {
  const plan = twoRequests();
  plan.place(2, 120);
  t.is(plan.findEarliestPlace(plan.getWaiting(2), 90), 100);
  t.is(plan.getWaiting(2).startsAt, 120);
  t.is(plan.profile.freeAt(120), 2);
});

test('due are the requests whose place has begun, in the order of arrival', (t) => {
  const plan = twoRequests();
  plan.add(3, 1, 10);
  plan.place(3, 50);
  t.deepEqual(plan.findDue(49), []);
  t.deepEqual(
    plan.findDue(100).map(({ id }) => id),
    [2, 3],
  );
  t.is(plan.nextStart, 50);
});

test('a request without a place does not start', (t) => {
  const plan = twoRequests();
  plan.add(3, 1, 10);
  t.throws(
    () => {
      plan.start(3);
    },
    { instanceOf: InvariantError },
  );
  t.throws(
    () => {
      plan.place(9, 0);
    },
    { instanceOf: InvariantError },
  );
});

// At 10 all is free but 4 + 2 processors over [50, 60), the places of requests 3 and 4. Request 2 (5 for 100) comes
// first and lacks
// one processor there; once 3 has moved to now it fits, and goes before 4.
test('start-now begins at the head again after each start', (t) => {
  const plan = new RequestPlan(10, 10);
  const moves: [number, number | undefined][] = [];
  for (const [id, width, walltime, startsAt] of [
    [2, 5, 100, 60],
    [3, 4, 10, 50],
    [4, 2, 10, 50],
  ] as const) {
    plan.add(id, width, walltime);
    plan.place(id, startsAt);
  }
  conservativeBackfilling('start-now').onEnded(plan, 10, (id, startsAt) => {
    moves.push([id, startsAt]);
    plan.place(id, startsAt);
  });
  t.deepEqual(moves, [
    [3, 10],
    [2, 10],
  ]);
});
