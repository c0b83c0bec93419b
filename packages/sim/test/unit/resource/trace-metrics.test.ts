import test from 'ava';
import { measureTrace, scaleSubmissions, summarize } from '@mutirao/sim';

test('a trace is measured by the work, the waits and the ends of its requests', (t) => {
  const served = [
    { submittedAt: 10_000, startedAt: 10_000, width: 2, runTime: 50_000, loggedWait: 30_000 },
    { submittedAt: 20_000, startedAt: 60_000, width: 4, runTime: 5000, loggedWait: 0 },
  ];
  t.deepEqual(measureTrace(served, 4), {
    requestCount: 2,
    offeredLoad: 120 / (4 * 80),
    utilisation: 120 / (4 * 55),
    meanWait: 20_000,
    waitMax: 40_000,
    meanBoundedSlowdown: (1 + 4.5) / 2,
    makespan: 55_000,
  });
});

test('an empty trace measures nothing', (t) => {
  t.is(measureTrace([], 4).offeredLoad, 0);
});

test('submissions move towards the first one, or away from it', (t) => {
  const trace = [1000, 2000, 4001].map((submittedAt) => ({ submittedAt, width: 1, walltime: 1, runTime: 1 }));
  t.deepEqual(
    scaleSubmissions(trace, 0.5).map(({ submittedAt }) => submittedAt),
    [1000, 1500, 2501],
  );
  t.deepEqual(
    scaleSubmissions(trace, 2).map(({ submittedAt }) => submittedAt),
    [1000, 3000, 7002],
  );
});

test("a mean has the interval of Student's t", (t) => {
  const { mean, halfInterval } = summarize([1, 2, 3, 4]);
  t.is(mean, 2.5);
  t.true(Math.abs(halfInterval - 3.1824 * Math.sqrt(5 / 3 / 4)) < 1e-9);
  t.deepEqual(summarize([7]), { count: 1, mean: 7, halfInterval: Infinity });
  const many = summarize(Array.from({ length: 61 }, (_, index) => index));
  t.true(Math.abs(many.halfInterval / Math.sqrt(315.1666667 / 61) - 2.0003) < 0.002, String(many.halfInterval));
});
