import test from 'ava';
import { TaskMeters } from '../../src/task-meters.ts';

/** This process, with a reported size far above its true one. */
const own = { pid: process.pid, residentBytes: 2 ** 40 };
const gone = { pid: 2 ** 22 + 1, residentBytes: 5000 };

function sample(processes: readonly { pid: number; residentBytes: number }[], processorMs = 0) {
  const residentBytes = processes.reduce((sum, row) => sum + row.residentBytes, 0);
  return { slot: 0, processes, residentBytes, processorMs, outputBytes: 0 };
}

test('the peak is the most that was seen, also of a process that held more before', (t) => {
  const meters = new TaskMeters();
  meters.begin(0);
  meters.note(sample([{ ...own, residentBytes: 1 }]), 0);
  const { memoryPeak = 0 } = meters.finish(0, undefined) ?? {};
  t.true(memoryPeak >= process.memoryUsage().rss / 2, `${memoryPeak}`);
});

test('memory of a process that has ended meanwhile does not count', (t) => {
  const meters = new TaskMeters();
  meters.begin(0);
  t.is(meters.note(sample([gone]), 4000), 0);
  t.is(meters.getPeak(0), 0);
});

test('a task that was too short to be measured has no usage, and the next one starts from nothing', (t) => {
  const meters = new TaskMeters();
  meters.begin(0);
  t.is(meters.finish(0, undefined), undefined);
  meters.begin(0);
  meters.note(sample([gone], 70), 0);
  meters.begin(0);
  t.deepEqual(meters.finish(0, 40), { memoryPeak: 0, processorTime: 40 });
});

test('processor time is what the shell counted, or the last sample of a task whose shell is gone', (t) => {
  const meters = new TaskMeters();
  for (const [counted, expected] of [
    [90, 90],
    [undefined, 70],
  ] as const) {
    meters.begin(0);
    meters.note(sample([gone], 70), 0);
    t.is(meters.finish(0, counted)?.processorTime, expected);
  }
});
