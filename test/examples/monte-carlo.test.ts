import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';

const folder = join(import.meta.dirname, '../../examples/monte-carlo');

interface Sample {
  readonly name: string;
  readonly seed: number;
  readonly count: number;
  readonly sum: number;
}

const { makeRandom, sample } = (await import(join(folder, 'sample.mjs'))) as {
  makeRandom(seed: number): () => number;
  sample(name: string, seed: number, count: number): Sample;
};
const { combine, estimate, studentQuantile } = (await import(join(folder, 'statistics.mjs'))) as {
  combine(results: readonly Sample[]): { name: string; mean: number; halfWidth: number; sampleCount: number };
  estimate(means: readonly number[]): { mean: number; halfWidth: number };
  studentQuantile(degrees: number): number;
};

test("Student's quantiles are those of the tables", (t) => {
  for (const [degrees, quantile] of [
    [1, 12.7062],
    [10, 2.2281],
    [30, 2.0423],
    [31, 2.0395],
    [40, 2.0211],
    [60, 2.0003],
    [120, 1.9799],
    [1_000_000, 1.96],
  ] as const) {
    t.true(Math.abs(studentQuantile(degrees) - quantile) < 1e-4, `${degrees}`);
  }
  t.throws(() => studentQuantile(0));
});

test('an interval is the mean and the quantile times the standard error', (t) => {
  const { mean, halfWidth } = estimate([1, 2, 3, 4, 5]);
  t.is(mean, 3);
  t.true(Math.abs(halfWidth - 2.7764 * Math.sqrt(2.5 / 5)) < 1e-9);
  t.throws(() => estimate([1]), { message: '1 results; expected two or more for an interval' });
});

test('a seed gives the same numbers each time, another seed others, all of them in 0..1 and even', (t) => {
  t.deepEqual(sample('pi', 5, 1000), sample('pi', 5, 1000));
  t.not(sample('pi', 5, 1000).sum, sample('pi', 6, 1000).sum);
  const random = makeRandom(1);
  const numbers = Array.from({ length: 20_000 }, random);
  t.true(numbers.every((number) => number >= 0 && number < 1));
  for (let tenth = 0; tenth < 10; tenth++) {
    const count = numbers.filter((number) => Math.floor(number * 10) === tenth).length;
    t.true(Math.abs(count - 2000) < 200, `${count} numbers in tenth ${tenth}`);
  }
});

test('about 95 of 100 intervals hold the true value', (t) => {
  let holdCount = 0;
  for (let run = 0; run < 300; run++) {
    const { mean, halfWidth } = combine(Array.from({ length: 10 }, (_, task) => sample('pi', run * 10 + task, 200)));
    if (Math.abs(mean - Math.PI) <= halfWidth) holdCount++;
  }
  t.true(holdCount > 0.91 * 300 && holdCount < 0.99 * 300, `${holdCount} of 300`);
});

test('results that are not independent samples of one run are refused', (t) => {
  t.throws(() => combine([sample('pi', 1, 10), sample('pi', 1, 10)]), { message: /the same seed/ });
  t.throws(() => combine([sample('pi', 1, 10), sample('ln2', 2, 10)]), { message: /different runs/ });
  t.throws(() => sample('e', 1, 10), { message: 'unknown integral e; known are pi, ln2' });
});

test.serial('the script submits the tasks and prints the estimate with its interval', (t) => {
  const grid = `node ${join(import.meta.dirname, '../../packages/testkit/src/fake-grid.ts')}`;
  const environment = {
    ...process.env,
    MUTIRAO: grid,
    PATH: `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`,
  };
  const output = execFileSync(join(folder, 'collect'), ['ln2', '5', '2000'], { env: environment, encoding: 'utf8' });
  const { mean, halfWidth } = combine([1, 2, 3, 4, 5].map((seed) => sample('ln2', seed, 2000)));
  t.true(
    output.includes(
      `5 tasks were run here\nln2 = ${mean.toFixed(7)} +/- ${halfWidth.toFixed(7)} (95 %), from 10000 samples ` +
        'of 5 tasks\n',
    ),
    output,
  );
});
