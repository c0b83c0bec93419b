// Scales, ticks and zooming of the charts.
import test from 'ava';
import { keepWithin, placeOf, listTicks, listTimeTicks, valueAt, zoomRange } from '../../../client/src/model/scale.ts';

const scale = { from: 10, until: 20, start: 100, end: 200 };

test('a value and its place lead to each other', (t) => {
  t.is(placeOf(scale, 15), 150);
  t.is(valueAt(scale, placeOf(scale, 12.5)), 12.5);
  t.is(placeOf({ ...scale, until: 10 }, 99), 100);
});

test('ticks are round and within the range', (t) => {
  t.deepEqual(listTicks(0, 128, 4), [0, 50, 100]);
  t.deepEqual(listTicks(3, 3, 4), [3]);
  t.deepEqual(listTimeTicks(0, 3_600_000, { about: 4 }), {
    ticks: [0, 900_000, 1_800_000, 2_700_000, 3_600_000],
    step: 900_000,
  });
  t.deepEqual(listTimeTicks(0, 2 * 86_400_000, { about: 2, shift: 3_600_000 }).ticks, [82_800_000, 169_200_000]);
});

test('zooming keeps what is under the pointer where it is, and stays within the limits', (t) => {
  const limits = { from: 0, until: 100 };
  t.deepEqual(zoomRange({ from: 0, until: 100 }, 0.5, { around: 25, least: 1, limits }), { from: 12.5, until: 62.5 });
  t.deepEqual(zoomRange({ from: 90, until: 100 }, 4, { around: 100, least: 1, limits }), { from: 60, until: 100 });
  t.deepEqual(zoomRange({ from: 40, until: 60 }, 1e9, { around: 50, least: 1, limits }), limits);
  t.deepEqual(keepWithin({ from: -10, until: 20 }, limits), { from: 0, until: 30 });
});
