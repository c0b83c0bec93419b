// The calendar: piles of reservations, and what drags make of them.
import test from 'ava';
import {
  dragReservation,
  hitCalendar,
  pileReservations,
  getQuantity,
  refuseSlot,
  sayAmount,
  slotOfDrag,
  type Reservation,
} from '../../../client/src/model/calendar.ts';

function reservation(
  id: number,
  [start, end, amount]: readonly [number, number, number],
  status = 'confirmed',
): Reservation {
  return {
    reservation_id: id,
    resource_id: 'r',
    user_id: 'rosa',
    is_mine: true,
    status,
    start_unix_ms: start,
    end_unix_ms: end,
    amount,
    unit: '',
    units: [],
    earliest_start_unix_ms: null,
    latest_end_unix_ms: null,
    hold_until_unix_ms: null,
    requested_unix_ms: 0,
    revision: 1,
    reason: null,
    provisioning: null,
  };
}

test('reservations lie on each other, the top of the pile is what they take, and those that are over take nothing', (t) => {
  const boxes = pileReservations([
    reservation(3, [5, 15, 2]),
    reservation(1, [0, 10, 3]),
    reservation(2, [10, 20, 1]),
    reservation(4, [0, 20, 9], 'cancelled'),
  ]);
  t.deepEqual(
    boxes.map(({ reservation: { reservation_id: id }, start, end, bottom, top }) => [id, start, end, bottom, top]),
    [
      [1, 0, 10, 0, 3],
      [3, 5, 10, 3, 5],
      [3, 10, 15, 0, 2],
      [2, 10, 15, 2, 3],
      [2, 15, 20, 0, 1],
    ],
  );
});

test('near its end a reservation is held by its end, elsewhere by its middle', (t) => {
  const boxes = pileReservations([reservation(1, [0, 100, 3])]);
  t.like(hitCalendar(boxes, { instant: 97, amount: 1, edge: 5 }), { part: 'end' });
  t.like(hitCalendar(boxes, { instant: 50, amount: 1, edge: 5 }), { part: 'middle' });
  t.is(hitCalendar(boxes, { instant: 50, amount: 4, edge: 5 }), undefined);
});

test('a piece that ends with the one below it does not end its reservation', (t) => {
  const boxes = pileReservations([reservation(1, [0, 50, 1]), reservation(2, [10, 100, 2])]);
  t.like(hitCalendar(boxes, { instant: 49, amount: 2, edge: 5 }), {
    part: 'middle',
    box: { reservation: { reservation_id: 2 } },
  });
  t.like(hitCalendar(boxes, { instant: 99, amount: 1, edge: 5 }), {
    part: 'end',
    box: { reservation: { reservation_id: 2 } },
  });
});

test('a drag draws a slot at steps, in either direction, and never in the past', (t) => {
  const rules = { step: 10, total: 8, now: 33 };
  t.deepEqual(slotOfDrag({ instant: 44, amount: 1.2 }, { instant: 71, amount: 3.7 }, rules), {
    start: 40,
    end: 80,
    amount: 3,
  });
  t.deepEqual(slotOfDrag({ instant: 71, amount: 3.7 }, { instant: 44, amount: 1.2 }, rules), {
    start: 40,
    end: 80,
    amount: 3,
  });
  t.deepEqual(slotOfDrag({ instant: 0, amount: 2 }, { instant: 12, amount: 2 }, rules), {
    start: 40,
    end: 50,
    amount: 1,
  });
});

test('a reservation is moved as a whole, or ended elsewhere but never before it began', (t) => {
  const one = reservation(1, [100, 200, 3]);
  t.deepEqual(dragReservation(one, 'middle', { by: -24, step: 10 }), { start: 80, end: 180, amount: 3 });
  t.deepEqual(dragReservation(one, 'end', { by: 47, step: 10 }), { start: 100, end: 250, amount: 3 });
  t.deepEqual(dragReservation(one, 'end', { by: -500, step: 10 }), { start: 100, end: 110, amount: 3 });
});

test('units are asked for as they are, a capacity by its share', (t) => {
  t.is(getQuantity({ kind: 'units', total: 8 }, 3), '3');
  t.is(getQuantity({ kind: 'capacity', total: 1_000_000 }, 333_333), '33.33%');
});

test('an impossible slot is reported before any request is sent', (t) => {
  const resource = { resource_id: 'alpha', total: 8, unit: '', type: 'processors', duration_ms_max: 100 };
  t.is(refuseSlot({ start: 0, end: 100, amount: 8 }, resource), undefined);
  for (const slot of [
    { start: 0, end: 101, amount: 1 },
    { start: 5, end: 5, amount: 1 },
    { start: 0, end: 5, amount: 9 },
    { start: 0, end: 5, amount: 0 },
    { start: Number.NaN, end: 5, amount: 1 },
  ])
    t.is(typeof refuseSlot(slot, resource), 'string');
  t.is(refuseSlot({ start: 0, end: 5, amount: 9 }, resource), 'alpha has 8 processors.');
});

test('a new slot cannot start in the past, but a little earlier than now was now while it was typed', (t) => {
  const resource = { resource_id: 'alpha', total: 8, unit: '', type: 'processors', duration_ms_max: 0 };
  const refuse = (start: number): string | undefined => refuseSlot({ start, end: 9e9, amount: 1 }, resource, 1e9);
  t.is(refuse(1e9 - 3_600_000), 'The start is in the past.');
  t.is(refuse(1e9 - 60_000), undefined);
  t.is(refuseSlot({ start: 1, end: 9e9, amount: 1 }, resource), undefined);
});

test('an amount says what it counts: a capacity its unit, units what they are', (t) => {
  t.is(sayAmount(3, { unit: '', type: 'processors' }), '3 processors');
  t.is(sayAmount(1, { unit: '', type: 'processors' }), '1 processor');
  t.is(sayAmount(1, { unit: 'B/s', type: '' }), '1 B/s');
  t.is(sayAmount(800_000, { unit: 'B/s', type: 'network' }), '800,000 B/s');
  t.is(sayAmount(2, { unit: '', type: '' }), '2 units');
});
