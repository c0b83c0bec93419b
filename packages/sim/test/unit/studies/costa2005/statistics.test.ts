import test from 'ava';
import { geometricMean, meanOfRatios, meanOfRunRatios, ratioOfSums } from '@mutirao/sim/costa2005';

const near = (one: number, other: number): boolean => Math.abs(one - other) < 1e-9 * Math.max(1, Math.abs(other));

test('the mean of ratios weighs scenarios alike, the ratio of sums weighs the long ones (costa2005, Eq. 4.1)', (t) => {
  const scenarios = [
    { draw: 'a', reference: [400, 400], other: [100, 100] },
    { draw: 'a', reference: [10_000, 10_000], other: [10_000, 10_000] },
  ];
  t.is(meanOfRatios(scenarios).value, 2.5);
  t.true(near(ratioOfSums(scenarios).value, 10_400 / 10_100));
});

test('where every pair has the same ratio nothing is uncertain', (t) => {
  const scenarios = [{ draw: 'a', reference: [2, 6, 10], other: [1, 3, 5] }];
  t.deepEqual(meanOfRatios(scenarios), { value: 2, halfInterval: 0 });
  t.deepEqual(ratioOfSums(scenarios), { value: 2, halfInterval: 0 });
});

test('with a constant other the interval is that of a mean', (t) => {
  // Mean 2, standard deviation 1, three values: 4.3027 x 1 / sqrt(3).
  const { value, halfInterval } = meanOfRatios([{ draw: 'a', reference: [1, 2, 3], other: [1, 1, 1] }]);
  t.is(value, 2);
  t.true(near(halfInterval, 4.3027 / Math.sqrt(3)));
});

test('scenarios that share their instants are not more certain than one of them', (t) => {
  const one = { draw: 'a', reference: [1, 2, 3], other: [1, 1, 1] };
  t.true(near(meanOfRatios([one, one, one]).halfInterval, meanOfRatios([one]).halfInterval));
  t.true(near(ratioOfSums([one, one, one]).halfInterval, ratioOfSums([one]).halfInterval));
});

test('scenarios of different draws are more certain together', (t) => {
  const one = { draw: 'a', reference: [1, 2, 3], other: [1, 1, 1] };
  const two = { ...one, draw: 'b' };
  t.true(near(meanOfRatios([one, two]).halfInterval, meanOfRatios([one]).halfInterval / Math.sqrt(2)));
  t.true(near(ratioOfSums([one, two]).halfInterval, ratioOfSums([one]).halfInterval / Math.sqrt(2)));
});

test('scenarios may have fewer instants; one instant shows nothing of certainty', (t) => {
  t.true(
    Number.isFinite(
      meanOfRatios([
        { draw: 'a', reference: [1, 2, 3], other: [1, 1, 1] },
        { draw: 'b', reference: [4, 2], other: [1, 1] },
      ]).halfInterval,
    ),
  );
  t.is(meanOfRatios([{ draw: 'a', reference: [1], other: [1] }]).halfInterval, Infinity);
  t.is(meanOfRatios([]).value, NaN);
});

test('in the geometric mean twice as fast and twice as slow cancel out; in the mean of ratios they do not', (t) => {
  const scenarios = [
    { draw: 'a', reference: [2, 4], other: [1, 2] },
    { draw: 'b', reference: [1, 1], other: [2, 2] },
  ];
  t.true(near(geometricMean(scenarios).value, 1));
  t.is(meanOfRatios(scenarios).value, 1.25);
  t.is(geometricMean(scenarios).halfInterval, 0);
});

test('of one scenario the geometric mean is the ratio of sums, with its interval', (t) => {
  const one = { draw: 'a', reference: [1, 2, 3], other: [1, 1, 4] };
  t.true(near(geometricMean([one]).value, 1));
  t.true(near(geometricMean([one]).halfInterval, ratioOfSums([one]).halfInterval));
});

test('the mean of the ratios of single runs weighs a short run as a long one', (t) => {
  const { value, halfInterval } = meanOfRunRatios([{ draw: 'a', reference: [4, 100, 2], other: [1, 100, 1] }]);
  t.true(near(value, 7 / 3));
  // Ratios 4, 1 and 2: standard deviation sqrt(7/3).
  t.true(near(halfInterval, (4.3027 * Math.sqrt(7 / 3)) / Math.sqrt(3)));
});
