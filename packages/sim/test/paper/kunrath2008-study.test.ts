// kunrath2008, chapter 5. Few runs; docs/studies/kunrath2008.md has all.
import test from 'ava';
import { getDifference, measure, getMean, runRequests, type Setup } from '@mutirao/sim/kunrath2008';

const quick = { isQuick: true, seed: 'paper' };
const steady: Setup = {
  requestCount: 298,
  deadlineShare: 1,
  laxity: 0,
  algorithm: 'suvs',
  placement: 'first-fit',
  kind: 'shared',
};

test('5.2, Figure 5.2: a third is refused if all have a latest end and no laxity, nothing if none has one', (t) => {
  const { value } = getMean(measure(steady, quick), 'refusedShare');
  t.true(value > 0.29 && value < 0.38, `${value}`);
  t.is(getMean(measure({ ...steady, deadlineShare: 0 }, quick), 'refusedShare').value, 0);
});

test('5.2, Figure 5.2: more laxity means fewer refusals', (t) => {
  const { value, halfInterval } = getDifference(
    measure(steady, quick),
    measure({ ...steady, laxity: 5 }, quick),
    'refusedShare',
  );
  t.true(value > 0.1 + halfInterval);
});

test('5.2, Figure 5.1: where more is wanted than there is, SUVS uses more than SUVS-P, and more requests use more', (t) => {
  const crowded: Setup = { ...steady, requestCount: 600, deadlineShare: 0.2, laxity: 'mixed' };
  const suvs = measure(crowded, quick);
  const suvsP = measure({ ...crowded, algorithm: 'suvs-p' }, quick);
  t.true(getDifference(suvs, suvsP, 'utilisation').value > 0.05);
  t.true(getMean(suvsP, 'movedShare').value > 0.1);
  t.true(getDifference(suvs, measure({ ...crowded, requestCount: 200 }, quick), 'utilisation').value > 0.2);
});

test('the same seed, the same run', (t) => {
  t.deepEqual(runRequests(steady, 'a'), runRequests(steady, 'a'));
  t.notDeepEqual(runRequests(steady, 'a'), runRequests(steady, 'b'));
});
