// What the gateway keeps of how the grid was: bounded, and honest about what it did not see.
import test from 'ava';

import { MutiraoError } from '@mutirao/api/errors';
import { aJobSummary, aMachineRecord, AnsweringBroker, fakePageGrid } from '@mutirao/testkit';
import { GridHistory, sampleMs } from '../../src/server/history.ts';
import { Readings } from '../../src/server/readings.ts';

function open() {
  const broker = new AnsweringBroker();
  broker.jobs = [aJobSummary({ finishedCount: 0 })];
  broker.machines = [aMachineRecord({ providerId: 'alpha', runningCount: 1 })];
  const clock = { at: 1_000_000_000, now: () => clock.at };
  const history = new GridHistory(new Readings({ grid: fakePageGrid(broker), clock }), clock);
  const pass = async (milliseconds: number, finished = 0): Promise<void> => {
    clock.at += milliseconds;
    broker.jobs = broker.jobs.map((job) => ({ ...job, finishedCount: job.finishedCount + finished }));
    await history.tick();
  };
  return { broker, clock, history, pass };
}

test('a page that is opened later gets what was before: how fast tasks finished, and what was busy', async (t) => {
  const { history, pass, broker } = open();
  await pass(0);
  await pass(sampleMs, 50);
  broker.machines.push(aMachineRecord({ providerId: 'lab', runningCount: 99 }));
  await pass(sampleMs, 25);
  await pass(sampleMs / 2, 25);
  const { at_unix_ms: at, finished_per_s: paces, sites } = history.read(10);
  t.is(at.length, 3, 'no sample before one is due');
  t.deepEqual(paces, [null, 5, 2.5]);
  const processors = broker.machines[1]?.facts?.processors;
  t.deepEqual(sites, [
    { provider_id: 'alpha', busy: [1, 1, 1] },
    { provider_id: 'lab', busy: [0, 0, processors] },
  ]);
});

test('while the broker is away nothing is made up', async (t) => {
  const { history, pass, broker } = open();
  await pass(0);
  broker.awayBecause = new MutiraoError('MUT_UNREACHABLE', 'gone');
  await pass(sampleMs, 50);
  broker.awayBecause = undefined;
  await pass(sampleMs, 50);
  await pass(sampleMs, 50);
  const { finished_per_s: paces, sites } = history.read(10);
  t.deepEqual(paces, [null, null, null, 5]);
  t.deepEqual(sites[0]?.busy, [1, null, 1, 1]);
});

test('a day is kept, the last hour of it finely, and an answer is bounded', async (t) => {
  const { history, pass, clock } = open();
  for (let count = 0; count < 9000; count += 1) await pass(sampleMs, 10);
  const day = history.read(1440);
  t.true(day.at_unix_ms.length <= 720, String(day.at_unix_ms.length));
  t.true(clock.at - (day.at_unix_ms[0] ?? 0) > 23 * 3_600_000);
  t.deepEqual(new Set(day.finished_per_s.slice(1)), new Set([1]));
  const minutes = history.read(10);
  t.is(minutes.at_unix_ms.length, 61);
  t.is(minutes.every_ms, sampleMs);
});

test('a clock that was set back leaves nothing ahead of now', async (t) => {
  const { history, pass, clock } = open();
  await pass(0);
  await pass(sampleMs);
  clock.at -= 3_600_000;
  await pass(0);
  t.deepEqual(history.read(10).at_unix_ms, [clock.at]);
});
