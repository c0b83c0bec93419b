import test from 'ava';
import { easyBackfilling, replayRequests, type TracedRequest } from '@mutirao/core/queue';

function getStarts(...rows: readonly (readonly [submittedAt: number, width: number, walltime: number])[]): number[] {
  const trace: TracedRequest[] = rows.map(([submittedAt, width, walltime]) => ({
    submittedAt,
    width,
    walltime,
    runTime: walltime,
  }));
  return replayRequests(easyBackfilling, 10, trace).map(({ startedAt }) => startedAt);
}

test("a request that ends by the head's shadow passes it, one that would delay the head does not", (t) => {
  // 6 run until 100; the head wants 8, so its shadow is 100 and 2 are extra then.
  t.deepEqual(getStarts([0, 6, 100], [1, 8, 50], [2, 4, 98], [3, 1, 10]), [0, 100, 2, 100]);
  t.deepEqual(getStarts([0, 6, 100], [1, 8, 50], [2, 4, 99]), [0, 100, 150]);
});

test('requests that outlive the shadow share what is extra', (t) => {
  // The end at 10 lets them all be looked at in one pass.
  t.deepEqual(
    getStarts([0, 6, 100], [0, 4, 10], [1, 8, 50], [2, 1, 500], [2, 1, 500], [2, 1, 500]),
    [0, 0, 100, 10, 10, 150],
  );
});

test('of two ends at one instant the second frees nothing while the first is handled', (t) => {
  // At 50 the head wants all. The first end leaves room for one: the request of width 2 does not fit yet, the one of
  // width 1 behind it does.
  t.deepEqual(
    getStarts([0, 8, 100], [0, 1, 50], [0, 1, 50], [1, 10, 10], [2, 2, 50], [3, 1, 50]),
    [0, 0, 0, 100, 110, 50],
  );
});

test('ends at one instant come in the order in which those requests were started, not in that of their arrival', (t) => {
  // At 10 the first end lets the request of width 1 pass, the second the one of width 2 before it. Both end at 20, the
  // narrower one first: then nothing
  // fits, and with the second end the request of width 3 does, which the one of width 2 behind it would have kept out.
  t.deepEqual(
    getStarts([0, 7, 100], [0, 1, 10], [0, 2, 10], [1, 10, 10], [2, 2, 10], [3, 1, 10], [4, 3, 10], [5, 2, 10]),
    [0, 0, 0, 100, 10, 10, 20, 30],
  );
});
