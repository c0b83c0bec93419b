import test, { type ExecutionContext } from 'ava';

import { runCheck } from '../../../src/results/run-check.ts';
import { Checks } from '../../../src/results/checks.ts';

interface Hanging {
  readonly done: Promise<unknown>;
  readonly isRunning: () => boolean;
  end(): void;
}

/** A check that runs until it is ended or its job is cancelled. */
function hang(checks: Checks, jobId: number, taskIndex = 0): Hanging {
  const gate = Promise.withResolvers<void>();
  let isRunning = false;
  const done = checks.run({ jobId, taskIndex }, async (signal) => {
    isRunning = true;
    signal.addEventListener('abort', () => {
      gate.resolve();
    });
    await gate.promise;
    isRunning = false;
  });
  done.catch(() => undefined);
  return { done, isRunning: () => isRunning, end: gate.resolve };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

test('hanging checks of one job, or of many, never stop those of another', async (t) => {
  const checks = new Checks({ most: 4, now: () => 0 });
  const own = Array.from({ length: 10 }, (_, index) => hang(checks, 1, index));
  for (let jobId = 2; jobId <= 9; jobId += 1) hang(checks, jobId);
  const last = hang(checks, 10);
  await settle();
  t.is(own.filter((check) => check.isRunning()).length, 4);
  t.true(last.isRunning());
  last.end();
  await last.done;
});

test('what is free goes to the job that runs the fewest checks', async (t) => {
  const checks = new Checks({ most: 2, now: () => 0 });
  const [a, b, waiting] = [hang(checks, 1), hang(checks, 1), hang(checks, 1)];
  const other = [hang(checks, 2), hang(checks, 2)];
  await settle();
  t.deepEqual(
    [a.isRunning(), b.isRunning(), waiting.isRunning(), other[0]?.isRunning(), other[1]?.isRunning()],
    [true, true, false, true, false],
  );
  a.end();
  b.end();
  await settle();
  t.true(waiting.isRunning(), 'job 1 runs none, job 2 one');
  t.false(other[1]?.isRunning());
});

test('the checks of a cancelled job end, those that run and those that wait, and leave their places to others', async (t) => {
  const checks = new Checks({ most: 1, now: () => 0 });
  const own = [hang(checks, 1), hang(checks, 1)];
  const other = [hang(checks, 2), hang(checks, 2)];
  await settle();
  checks.cancel(1);
  for (const { done } of own) await t.throwsAsync(done, { code: 'MUT_CANCELLED' });
  other[0]?.end();
  await settle();
  t.true(other[1]?.isRunning());
  t.deepEqual(checks.describe(1), []);
});

test('what runs and what waits is named, for a job and for one of its tasks', async (t) => {
  let now = 0;
  const checks = new Checks({ most: 1, now: () => now });
  hang(checks, 1, 0);
  hang(checks, 1, 1);
  await settle();
  now = 12_000;
  const waiting = { code: 'checks-waiting', checks: 1, checksMax: 1 } as const;
  t.deepEqual(checks.describe(1), [{ code: 'checks-running', checks: 1, longestMs: 12_000 }, waiting]);
  t.deepEqual(checks.describe(1, 1), [waiting]);
  t.deepEqual(checks.describe(2), []);
});

test('a cancelled check ends with what it has started', async (t: ExecutionContext) => {
  const checks = new Checks({ most: 1, now: () => 0 });
  const done = checks.run({ jobId: 1, taskIndex: 0 }, (signal) =>
    runCheck({ command: 'sleep 1000 & sleep 1000', homeDirectory: '/', environment: {}, deadline: 60_000, signal }),
  );
  await settle();
  checks.cancel(1);
  await t.throwsAsync(done, { code: 'MUT_CANCELLED' });
});
