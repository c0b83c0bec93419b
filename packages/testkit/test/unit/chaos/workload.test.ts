import test from 'ava';
import { describeWay, getExpected, jobWays, planJobs, sharedText, taskAt } from '../../../src/chaos/workload.ts';

test('a load is cut into jobs that together have all of its tasks, each of a known kind', (t) => {
  for (const [taskCount, jobSize] of [
    [20_000, 334],
    [1000, 50],
    [7, 50],
  ] as const) {
    const jobs = planJobs(taskCount, jobSize);
    const sizes = jobs.map(({ counts }) => counts.reduce((sum, count) => sum + count, 0));
    t.is(
      sizes.reduce((sum, size) => sum + size, 0),
      taskCount,
    );
    t.is(new Set(jobs.map(({ label }) => label)).size, jobs.length);
  }
  t.is(
    new Set(planJobs(20_000, 334).map(({ way }) => describeWay(way))).size,
    new Set(jobWays.map((way) => describeWay(way))).size,
  );
  const [job] = planJobs(100, 100);
  t.deepEqual(job?.counts, [66, 12, 4, 12, 6]);
  t.deepEqual(job && [0, 65, 66, 78, 82, 99].map((index) => taskAt(job, index)), [
    { kind: 'small', index: 0 },
    { kind: 'small', index: 65 },
    { kind: 'printed', index: 0 },
    { kind: 'large', index: 0 },
    { kind: 'flaky', index: 0 },
    { kind: 'checked', index: 5 },
  ]);
});

test('no two tasks are expected to bring the same, and large ones do not fit into a message', (t) => {
  const all = (['small', 'printed', 'large', 'flaky', 'checked'] as const).flatMap((kind) =>
    [0, 1, 2].flatMap((index) => ['a', 'b'].map((label) => getExpected(label, kind, index))),
  );
  t.is(new Set(all).size, all.length);
  t.true(sharedText.length > 64 * 1024);
});
