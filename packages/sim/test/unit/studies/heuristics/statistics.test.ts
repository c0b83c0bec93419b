import test from 'ava';
import { geometricMean, isHeldOut, mostInAnHour, ratioOfMeans, Resampling, getSpeedup } from '@mutirao/sim/heuristics';

const one = {
  draw: 'a',
  references: [
    [10, 30],
    [20, 10],
  ],
  other: [5, 10],
};
const two = {
  draw: 'b',
  references: [
    [8, 8],
    [9, 9],
  ],
  other: [16, 16],
};

test('the better of the references is chosen by its mean over the instants, not instant by instant', (t) => {
  // Means 20 and 15 over 7.5; instant by instant it would be 10 over 7.5.
  t.is(getSpeedup(one, new Resampling('1')).value, 2);
  t.is(getSpeedup({ ...one, references: one.references.toReversed() }, new Resampling('1')).value, 2);
});

test('the mean over scenarios is the geometric one: twice as fast and half as fast cancel out', (t) => {
  t.is(geometricMean([one, two], new Resampling('1')).value, 1);
  t.is(geometricMean([one, one, two], new Resampling('1')).value.toFixed(6), Math.cbrt(2).toFixed(6));
});

test('the ratio of means adds scenarios up before it divides', (t) => {
  t.is(
    ratioOfMeans(
      [
        { draw: 'a', references: [[10, 20]], other: [5, 5] },
        { draw: 'b', references: [[1, 1]], other: [3, 3] },
      ],
      new Resampling('1'),
    ).value,
    16 / 8,
  );
});

test('an interval of two instants has the samples that take one of them twice at its ends', (t) => {
  const { value, low, high } = getSpeedup({ draw: 'a', references: [[1, 3]], other: [1, 1] }, new Resampling('1'));
  t.deepEqual(
    [value, low, high].map((bound) => bound.toFixed(6)),
    ['2.000000', '1.000000', '3.000000'],
  );
});

test('values are taken in pairs: what is always twice as fast has no interval, however instants differ', (t) => {
  const { value, low, high } = getSpeedup(
    { draw: 'a', references: [[2, 2000, 20, 8]], other: [1, 1000, 10, 4] },
    new Resampling('1'),
  );
  for (const bound of [value, low, high]) t.true(Math.abs(bound - 2) < 1e-12);
});

test('scenarios of one draw are given the same instants, those of different draws are not', (t) => {
  const [rising, falling] = [
    { references: [[1, 4]], other: [1, 1] },
    { references: [[4, 1]], other: [1, 1] },
  ];
  const same = geometricMean(
    [
      { draw: 'a', ...rising },
      { draw: 'a', ...falling },
    ],
    new Resampling('1'),
  );
  t.deepEqual(
    [same.value, same.low, same.high].map((bound) => bound.toFixed(6)),
    ['2.500000', '2.000000', '2.500000'],
  );
  const apart = geometricMean(
    [
      { draw: 'a', ...rising },
      { draw: 'b', ...falling },
    ],
    new Resampling('1'),
  );
  t.deepEqual(
    [apart.low, apart.high].map((bound) => bound.toFixed(6)),
    ['1.000000', '4.000000'],
  );
});

test('the same seed is the same interval, and nothing is estimated from nothing', (t) => {
  const many = { draw: 'a', references: [[5, 9, 2, 7, 1, 8, 3, 6]], other: [3, 3, 4, 1, 5, 9, 2, 6] };
  t.deepEqual(getSpeedup(many, new Resampling('7')), getSpeedup(many, new Resampling('7')));
  t.notDeepEqual(getSpeedup(many, new Resampling('7')), getSpeedup(many, new Resampling('8')));
  t.deepEqual(geometricMean([], new Resampling('1')), { value: NaN, low: NaN, high: NaN });
});

test('the last third of the instants is held out, and no instant before two thirds of the time', (t) => {
  const heldOut = (count: number): number[] =>
    Array.from({ length: count }, (_, run) => run).filter((run) => isHeldOut(run, count));
  t.deepEqual(heldOut(6), [4, 5]);
  t.deepEqual(
    heldOut(50),
    Array.from({ length: 16 }, (_, index) => 34 + index),
  );
  t.deepEqual(heldOut(2), []);
});

test('the most in an hour is that of any hour, of which one end belongs to it', (t) => {
  const minute = 60_000;
  t.is(mostInAnHour([]), 0);
  t.is(mostInAnHour([0, 0, 0]), 3);
  t.is(mostInAnHour([0, 59 * minute, 60 * minute]), 2);
  t.is(mostInAnHour([0, 50 * minute, 55 * minute, 109 * minute, 110 * minute]), 3);
});
