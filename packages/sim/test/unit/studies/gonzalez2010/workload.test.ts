import test from 'ava';
import type { TracedRequest } from '@mutirao/core/queue';
import { InvariantError } from '@mutirao/core/shared';
import { allProcessors, clusterSizes, experimentTasks, sampleExperiment, scaleToLoad } from '@mutirao/sim/gonzalez2010';

/** A log whose tasks differ in their run times. */
function makeLog(from: number, count: number, width: number): TracedRequest[] {
  return Array.from({ length: count }, (_, index) => ({
    submittedAt: 1000 * index,
    width,
    walltime: 2_000_000,
    runTime: from + index,
  }));
}

const logs = [makeLog(1, 50_000, 1), makeLog(500_001, 30_000, 8), makeLog(1_000_001, 10_000, 32)];

test("experiments have as many tasks as the seed's, share none, and have each log in its proportion", (t) => {
  const seen = new Set<number>();
  for (const experiment of [0, 1]) {
    const tasks = sampleExperiment(logs, experiment);
    t.is(tasks.length, experimentTasks);
    for (const { runTime } of tasks) {
      t.false(seen.has(runTime));
      seen.add(runTime);
    }
    t.is(tasks.filter(({ width }) => width === 32).length, Math.floor((10_000 * experimentTasks) / 90_000));
    t.true(tasks.every(({ submittedAt }, index) => submittedAt >= (tasks[index - 1]?.submittedAt ?? 0)));
    t.is(tasks[0]?.submittedAt, 0);
    t.is(tasks.at(-1)?.submittedAt, 1);
  }
});

test('an experiment beyond the end of a log is none', (t) => {
  t.throws(() => sampleExperiment(logs, 2), { message: /has no/ });
});

test('a scaled experiment offers the load that was asked for', (t) => {
  const tasks = sampleExperiment(logs, 0);
  const work = tasks.reduce((sum, { width, runTime }) => sum + width * runTime, 0);
  for (const load of [0.7, 0.85, 1]) {
    const stream = scaleToLoad(tasks, load);
    t.true(Math.abs(work / (allProcessors * (stream.at(-1)?.submittedAt ?? 0)) - load) < 1e-9);
    t.true(stream.every(({ submittedAt }) => Number.isInteger(submittedAt)));
  }
  t.deepEqual([clusterSizes.length, allProcessors], [11, 136]);
});

test('there is no experiment at a load of nothing', (t) => {
  const tasks = sampleExperiment(logs, 0);
  for (const load of [0, -1, NaN, Infinity])
    t.throws(() => scaleToLoad(tasks, load), {
      instanceOf: InvariantError,
      message: `the offered load is ${load}; expected more than 0`,
    });
});
