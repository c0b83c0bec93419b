import test from 'ava';
import {
  compareRun,
  expectedRemainingOn,
  quantileOn,
  slownessFactor,
  TimeCurve,
  unknownSlowness,
} from '@mutirao/core/times';

function getCurve(ended: readonly number[], censored: readonly number[] = []): TimeCurve {
  const curve = new TimeCurve();
  for (const time of ended) curve.add(time);
  for (const time of censored) curve.addCensored(time);
  return curve;
}

test('runs that were cut off make times longer than those that ended alone', (t) => {
  const ended = [10, 10, 10, 20, 30];
  t.is(getCurve(ended).quantile(0.5), 10);
  // Kaplan and Meier: three of ten end at 10, one of seven at 20, one of six at 30; (7/10)(6/7)(5/6) = 1/2 last longer.
  const cut = getCurve(ended, [30, 30, 30, 30, 30]);
  t.is(cut.quantile(0.3), 10);
  t.is(cut.quantile(0.5), 30);
  t.is(cut.quantile(0.51), undefined, 'of half of them nobody knows how long they last');
});

test('a run that was cut off before the first end says nothing', (t) => {
  t.is(getCurve([100, 100], [5, 5, 5, 5]).quantile(0.5), getCurve([100, 100]).quantile(0.5));
});

test('the longest run is known to the millisecond', (t) => {
  t.is(getCurve([1, 123_457]).quantile(1), 123_457);
});

test('what is left of a run that lasts already depends on how long it does', (t) => {
  // Nine of ten take 10 ms and one takes 1000 ms.
  const curve = getCurve([...Array.from({ length: 9 }, () => 10), 1000]);
  t.is(curve.expectedRemaining(0), 109);
  t.is(curve.expectedRemaining(10), 990);
  t.is(curve.quantile(0.5, 10), 1000);
  t.is(curve.expectedRemaining(2000), 2000, 'no task lasted this long: expect as long again');
  t.is(curve.quantile(0.5, 2000), undefined);
});

test('before anything was seen nothing is expected', (t) => {
  const curve = new TimeCurve();
  t.is(curve.quantile(0.5), undefined);
  t.is(curve.expectedRemaining(5), undefined);
  t.is(curve.mean, undefined);
  t.is(getCurve([], [40]).expectedRemaining(0), 80, 'one was cut off after 40 ms: it would have lasted as long again');
});

test('a machine of which nothing is known is as slow as others, one run says little, many say it all', (t) => {
  const usual = getCurve([100, 100, 100, 100]);
  t.is(slownessFactor(unknownSlowness), 1);
  const one = compareRun(unknownSlowness, { time: 300, isCensored: false }, usual);
  t.is(slownessFactor(one), 7 / 5);
  let many = unknownSlowness;
  for (let run = 0; run < 1000; run++) many = compareRun(many, { time: 300, isCensored: false }, usual);
  t.true(slownessFactor(many) > 2.8 && many.count <= 64);
  for (let run = 0; run < 100; run++) many = compareRun(many, { time: 100, isCensored: false }, usual);
  t.true(slownessFactor(many) < 1.5, 'it changed, and is seen to');
});

test('on a slow machine times are longer, and so is what a run has behind it', (t) => {
  const curve = getCurve([10, 100]);
  const twice = { sum: 60, count: 28 };
  t.is(slownessFactor(twice), 2);
  t.is(quantileOn(curve, twice, { share: 0.5, elapsed: 0 }), 20);
  t.is(quantileOn(curve, twice, { share: 0.5, elapsed: 20 }), 200);
  t.is(expectedRemainingOn(curve, twice, 20), 180);
});
