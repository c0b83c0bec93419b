// The schedulers against plain ones that look at every pair, and against what holds for each of them.
import test from 'ava';
import fc from 'fast-check';
import { type BagMachine, type BagQueue, lossBy, dispatchQueues, type SchedulingPort } from '@mutirao/core/bag';
import { schedulerNames, type SchedulerName } from '@mutirao/core/messages';
import { runs } from '@mutirao/testkit';

interface Machine extends BagMachine {
  readonly index: number;
  heldProcessors: number;
  /** In how long it is free; 0 where it is. */
  readonly wait: number;
}

interface Queue extends BagQueue {
  readonly ready: Set<number>;
}

/** Run times by task and machine; machines of one processor. */
interface Case {
  readonly times: readonly (readonly number[])[];
  readonly waits: readonly number[];
}

const cases: fc.Arbitrary<Case> = fc
  .record({ tasks: fc.integer({ min: 1, max: 6 }), machines: fc.integer({ min: 1, max: 5 }) })
  .chain(({ tasks, machines }) =>
    fc.record({
      // All different, so that there is one answer.
      times: fc
        .uniqueArray(fc.integer({ min: 1, max: 100_000 }), { minLength: tasks * machines, maxLength: tasks * machines })
        .map((all) => Array.from({ length: tasks }, (_, task) => all.slice(task * machines, (task + 1) * machines))),
      waits: fc.array(fc.constantFrom(0, 0, 500, 70_000), { minLength: machines, maxLength: machines }),
    }),
  );

/** Places by the real scheduler; lines `task on machine`. */
function place(scheduler: SchedulerName, { times, waits }: Case): string[] {
  const placed: string[] = [];
  const ready = new Set(times.keys());
  const queue: Queue = {
    processors: 1,
    scheduler,
    ready,
    get readyCount() {
      return ready.size;
    },
  };
  const machines = waits.map(
    (wait, index): Machine => ({ index, wait, processors: 1, heldProcessors: wait === 0 ? 0 : 1 }),
  );
  const put = (machine: Machine, tasks: readonly number[]): void => {
    for (const task of tasks) {
      ready.delete(task);
      machine.heldProcessors++;
      placed.push(`${task} on ${machine.index}`);
    }
  };
  const list = (from: number, countMax: number): number[] =>
    [...ready].filter((task) => task >= from).slice(0, countMax);
  const port: SchedulingPort<Machine, Queue> = {
    matches: () => true,
    prefetchDepth: () => 0,
    suits: () => true,
    timeLeft: () => Infinity,
    lookAgain: () => undefined,
    isPlanned: () => false,
    dispatchPlanned: () => new Set(),
    dispatch: (machine, _queue, countMax) => {
      const tasks = list(0, countMax);
      put(machine, tasks);
      return tasks.length;
    },
    dispatchTasks: (machine, _queue, tasks) => {
      put(machine, tasks);
    },
    readyTasks: (_queue, from, countMax) => list(from, countMax),
    taskTime: (_queue, task, machine) => times[task]?.[machine.index],
    waits: (_queue, machine) => [machine.wait],
    bytesHeld: (_queue, task, machine) => times[task]?.[machine.index] ?? 0,
  };
  dispatchQueues(machines, [queue], port);
  return placed.sort();
}

/** Min-min and sufferage as they are written in books: every pair is looked at again each time. */
function dispatchSlowly(scheduler: 'min-min' | 'sufferage', { times, waits }: Case): string[] {
  const free = [...waits];
  const open = new Set(times.keys());
  const placed: string[] = [];
  while (open.size > 0 && free.includes(0)) {
    const rows = [...open].map((task) => {
      const ends = free
        .map((wait, machine) => ({ machine, end: wait + (times[task]?.[machine] ?? 0) }))
        .sort((one, other) => one.end - other.end);
      return { task, machine: ends[0]?.machine ?? 0, end: ends[0]?.end ?? 0, second: ends[1]?.end ?? Infinity };
    });
    const urgency = ({ end, second }: { end: number; second: number }): number =>
      scheduler === 'min-min' ? -end : second - end;
    const first = rows.reduce((best, row) =>
      urgency(row) > urgency(best) || (urgency(row) === urgency(best) && row.end < best.end) ? row : best,
    );
    if (free[first.machine] === 0) placed.push(`${first.task} on ${first.machine}`);
    free[first.machine] = first.end;
    open.delete(first.task);
  }
  return placed.sort();
}

for (const scheduler of ['min-min', 'sufferage'] as const) {
  test(`${scheduler} places what looking at every pair gives`, (t) => {
    fc.assert(
      fc.property(cases, (one) => {
        t.deepEqual(place(scheduler, one), dispatchSlowly(scheduler, one));
      }),
      runs(771, 300),
    );
  });
}

test('whatever the scheduler, no machine gets more than it has room for, and no task goes twice', (t) => {
  fc.assert(
    fc.property(cases, fc.constantFrom(...schedulerNames), (one, scheduler) => {
      const placed = place(scheduler, one).map((line) => line.split(' on ').map(Number));
      t.is(new Set(placed.map(([task]) => task)).size, placed.length);
      t.is(new Set(placed.map(([, machine]) => machine)).size, placed.length);
      t.true(placed.every(([, machine = 0]) => one.waits[machine] === 0));
      const free = one.waits.filter((wait) => wait === 0).length;
      // Only those that map by estimates may leave a machine idle.
      if (scheduler !== 'min-min' && scheduler !== 'sufferage') t.is(placed.length, Math.min(free, one.times.length));
    }),
    runs(772, 300),
  );
});

test('with storage affinity no free machine and task that were both passed over hold more for each other than what was given', (t) => {
  fc.assert(
    fc.property(cases, (one) => {
      const placed = place('storage-affinity', one).map((line) => line.split(' on ').map(Number));
      const best = Math.max(...one.times.flatMap((row) => row.filter((_, machine) => one.waits[machine] === 0)), 0);
      if (placed.length > 0)
        t.true(
          placed.some(([task = 0, machine = 0]) => one.times[task]?.[machine] === best),
          'the greatest of all was not given',
        );
    }),
    runs(773, 300),
  );
});

test('the worst loss of a task is the cost of all its replicas except the cheapest, and given-up ones are lost in any case', (t) => {
  const runs = { processors: 2, living: [100], givenUp: [], waiting: [] };
  t.is(lossBy(runs, 150), 0);
  t.is(lossBy({ ...runs, living: [100, 120, 130] }, 150), 2 * (50 + 30));
  t.is(lossBy({ ...runs, givenUp: [140] }, 150), 2 * 10);
  t.is(lossBy({ ...runs, waiting: [30] }, 150), 2 * 50, 'whichever of the two is accepted');
  t.is(lossBy(runs, Infinity), 0);
  t.is(lossBy({ ...runs, living: [100, 120] }, Infinity), Infinity);
});
