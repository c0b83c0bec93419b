// kunrath2008, on its running example (Figures 2.1 and 2.5): 16 identical processors, 4 disks, a network of 800 KB/s.
import test from 'ava';
import {
  Calendar,
  getLaxity,
  getOffered,
  parseAmount,
  resourceDefaults,
  getShare,
  type Answer,
  type PlacedReservation,
  type ReservableResource,
  type ReservationRequest,
} from '@mutirao/core/reservations';
import { VariableSlots } from '@mutirao/testkit';

const hour = 3_600_000;
const network: ReservableResource = { ...resourceDefaults, kind: 'shared', capacity: 800_000 };
const processors: ReservableResource = { ...resourceDefaults, kind: 'counted', capacity: 16 };

/** Hours after an instant at which the examples begin. */
function ask(id: number, amount: number, hours: number, limits: Partial<ReservationRequest> = {}): ReservationRequest {
  return {
    id,
    userId: 'ana',
    extent: { kind: 'rigid', amount, duration: hours * hour },
    timing: 'advance',
    earliestStart: 0,
    latestEnd: undefined,
    ...limits,
  };
}

function placed(answer: Answer): PlacedReservation {
  if (answer.kind === 'refused') throw new Error(answer.reason);
  return answer.reservation;
}

const getReason = (answer: Answer): string => (answer.kind === 'refused' ? answer.reason : 'placed');

test('2.1.5, Figure 2.5: 400 KB/s of 800 KB/s is 50 %, 320 KB/s is 40 %, and both fit at once', (t) => {
  const [half, less] = ['400KB/s', '320 KB/s'].map((text) => parseAmount(text, 'bytes-per-second', network.capacity));
  t.deepEqual([half, less], [{ amount: 400_000 }, { amount: 320_000 }]);
  t.deepEqual([getShare(400_000, 800_000), getShare(320_000, 800_000)], [500_000, 400_000]);
  const calendar = new Calendar(network, 0);
  t.is(placed(calendar.request(ask(1, 400_000, 1), 0)).start, 0);
  t.is(placed(calendar.request(ask(2, 320_000, 2), 0)).start, 0);
  t.deepEqual(
    calendar.slots(0, 3 * hour).map(({ end, used }) => [end / hour, used]),
    [
      [1, 720_000],
      [2, 320_000],
      [3, 0],
    ],
  );
  t.is(
    placed(calendar.request(ask(3, 160_000, 1), 0)).start,
    hour,
    '20 % in addition to 90 % must wait for the first to end',
  );
});

test('2.1.5: a multiple reservation is of eight processors at once, and a simple one is a multiple one of one', (t) => {
  const calendar = new Calendar(processors, 0);
  t.deepEqual(placed(calendar.request(ask(1, 8, 3), 0)).resources, [0, 1, 2, 3, 4, 5, 6, 7]);
  t.deepEqual(placed(calendar.request(ask(2, 1, 8), 0)).resources, [8]);
});

test('2.1.4: an immediate reservation is placed now or refused, one on demand gets the time when it can be placed', (t) => {
  const calendar = new Calendar({ ...processors, capacity: 4 }, 0);
  calendar.request(ask(1, 4, 2), 0);
  t.is(getReason(calendar.request(ask(2, 1, 1, { timing: 'immediate' }), hour)), 'not-now');
  t.is(placed(calendar.request(ask(3, 1, 1, { timing: 'on-demand' }), hour)).start, 2 * hour);
});

test('3.2: laxity is by how much the limits are wider than the duration', (t) => {
  t.is(getLaxity(0, 6 * hour, hour), 5);
  t.is(getLaxity(hour, 2 * hour, hour), 0);
});

test('4.1, Figure 4.2: three of six resources are the first, the second and the sixth, which are not neighbours', (t) => {
  const calendar = new Calendar({ ...processors, capacity: 6 }, 0);
  const base = { userId: 'ana', earliestStart: 0, latestEnd: undefined };
  calendar.put({ ...base, id: 1, start: 0, end: 3 * hour, amount: 3, resources: [0, 1, 5] });
  calendar.put({ ...base, id: 2, start: 0, end: 7 * hour, amount: 3, resources: [2, 3, 4] });
  const { start, resources } = placed(calendar.request(ask(3, 3, 3, { latestEnd: 7 * hour }), 0));
  t.deepEqual({ start, resources }, { start: 3 * hour, resources: [0, 1, 5] });
});

test('4.1: enough resources at each instant are not enough when they are not the same throughout', (t) => {
  const calendar = new Calendar({ ...processors, capacity: 2 }, 0);
  const base = { userId: 'ana', amount: 1, earliestStart: 0, latestEnd: undefined };
  calendar.put({ ...base, id: 1, start: 0, end: 2 * hour, resources: [0] });
  calendar.put({ ...base, id: 2, start: 2 * hour, end: 4 * hour, resources: [1] });
  t.is(placed(calendar.request(ask(3, 1, 3), 0)).start, 2 * hour);
});

test('4.2.1, Figure 4.3: of a resource offered up to 70 % more than that is refused, and no two exceed it together', (t) => {
  const capped = { ...network, capPpm: 700_000 };
  t.is(getOffered(capped), 560_000);
  const calendar = new Calendar(capped, 0);
  t.deepEqual(calendar.request(ask(1, 560_001, 1), 0), {
    kind: 'refused',
    reason: 'above-cap',
    found: 560_001,
    possible: 560_000,
  });
  calendar.request(ask(2, 300_000, 1), 0);
  t.is(placed(calendar.request(ask(3, 300_000, 1), 0)).start, hour);
});

test('4.2.2, Figure 4.6: two slots of equal capacity with different reservations stay apart', (t) => {
  const list = new VariableSlots(100);
  list.put({ id: 1, amount: 30, start: 0, end: 2, earliestStart: 0, isLow: true });
  list.put({ id: 2, amount: 30, start: 2, end: 4, earliestStart: 0, isLow: true });
  list.put({ id: 3, amount: 10, start: 5, end: 7, earliestStart: 0, isLow: true });
  list.put({ id: 4, amount: 20, start: 5, end: 7, earliestStart: 0, isLow: true });
  t.deepEqual(
    list.slots.map(({ start, end, used }) => [start, end, used]),
    [
      [0, 2, 30],
      [2, 4, 30],
      [5, 7, 30],
    ],
  );
});

test('4.2.3, Figure 4.7: of 80 % a start is moved behind the slot in which it would be too much', (t) => {
  const calendar = new Calendar({ ...resourceDefaults, kind: 'shared', capacity: 100, capPpm: 800_000 }, 0);
  const base = { userId: 'ana', resources: [], earliestStart: 0, latestEnd: undefined };
  calendar.put({ ...base, id: 1, start: 0, end: 2 * hour, amount: 40 });
  calendar.put({ ...base, id: 2, start: hour, end: 3 * hour, amount: 30 });
  calendar.put({ ...base, id: 3, start: 4 * hour, end: 6 * hour, amount: 50 });
  t.is(placed(calendar.request(ask(4, 30, 3, { latestEnd: 6 * hour }), 0)).start, 2 * hour);
  t.is(
    getReason(calendar.request(ask(5, 60, 2, { latestEnd: 6 * hour }), 0)),
    'no-room',
    'its start moves until it would end too late',
  );
});

test('4.2.3: without limits a reservation begins now at the earliest, and there is always a place, if need be after all others', (t) => {
  const calendar = new Calendar(network, 0);
  for (let id = 1; id <= 20; id += 1)
    t.is(placed(calendar.request(ask(id, 800_000, 1, { earliestStart: undefined }), 5)).start, 5 + (id - 1) * hour);
});

test('4.2.4, Figure 4.8: one with a latest end takes the place of one without, whose owner is notified of the new times', (t) => {
  const calendar = new Calendar({ ...network, algorithm: 'suvs-p', inTheWay: 'covered' }, 0);
  calendar.request(ask(1, 500_000, 2, { earliestStart: hour }), 0);
  calendar.request(ask(2, 500_000, 1, { earliestStart: 3 * hour, latestEnd: 4 * hour }), 0);
  const answer = calendar.request(ask(3, 400_000, 1, { earliestStart: hour, latestEnd: 2 * hour }), 0);
  t.is(placed(answer).start, hour);
  t.deepEqual(
    answer.kind === 'placed' &&
      answer.moved.map(({ id, before, after }) => [id, before.start / hour, after.start / hour]),
    [[1, 1, 4]],
  );
  t.is(calendar.get(2)?.start, 3 * hour, 'one with a latest end is never moved');
});

test('4.2.4: one without a latest end moves no other, nor does one that fits without a move', (t) => {
  const calendar = new Calendar({ ...network, algorithm: 'suvs-p', inTheWay: 'covered' }, 0);
  calendar.request(ask(1, 500_000, 2, { earliestStart: hour }), 0);
  const after = calendar.request(ask(2, 400_000, 1, { earliestStart: hour }), 0);
  t.is(placed(after).start, 3 * hour);
  const beside = calendar.request(ask(3, 300_000, 1, { earliestStart: hour, latestEnd: 2 * hour }), 0);
  t.deepEqual([placed(beside).start, beside.kind === 'placed' && beside.moved], [hour, []]);
});

test('2.2, Castillo et al.: first-fit, min-LIP and min-TIP take the first, the least idle before and the least idle after', (t) => {
  const base = { userId: 'ana', resources: [], earliestStart: 0, latestEnd: undefined, amount: 100 };
  const starts = (['first-fit', 'min-lip', 'min-tip'] as const).map((placement) => {
    const calendar = new Calendar({ ...resourceDefaults, kind: 'shared', capacity: 100, placement }, 0);
    calendar.put({ ...base, id: 1, start: 4 * hour, end: 5 * hour });
    calendar.put({ ...base, id: 2, start: 8 * hour, end: 9 * hour });
    calendar.put({ ...base, id: 3, start: 11 * hour, end: 12 * hour });
    return placed(calendar.request(ask(4, 100, 2, { earliestStart: hour, latestEnd: 20 * hour }), 0)).start / hour;
  });
  t.deepEqual(starts, [1, 5, 9]);
});

test('2.2, Castillo et al.: of counted resources the rule chooses among those that are free', (t) => {
  const base = { userId: 'ana', amount: 1, earliestStart: 0, latestEnd: undefined };
  const chosen = (['first-fit', 'min-lip', 'min-tip'] as const).map((placement) => {
    const calendar = new Calendar({ ...processors, capacity: 3, placement }, 0);
    calendar.put({ ...base, id: 1, start: hour, end: 2 * hour, resources: [1] });
    calendar.put({ ...base, id: 2, start: 5 * hour, end: 6 * hour, resources: [2] });
    return placed(calendar.request(ask(3, 1, 2, { earliestStart: 2 * hour }), 0)).resources;
  });
  t.deepEqual(chosen, [[0], [1], [2]]);
});
