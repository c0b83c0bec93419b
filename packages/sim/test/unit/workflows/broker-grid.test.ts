import test from 'ava';
import type { JobSpec, SchedulerName, TaskEdge, TaskGroup } from '@mutirao/core/messages';
import { brokerMachine } from '@mutirao/core/machines/broker';
import { aGroup, aJob } from '@mutirao/testkit';
import { BrokerGrid, type BrokerGridSetup, type SimulatedMachine } from '../../../src/index.ts';

const second = 1000;

/** Tasks that say how long they take, in seconds, each a group of its own. */
function timed(...times: readonly number[]): TaskGroup[] {
  return times.map((time) => aGroup(1, { values: { kind: 'list', values: ['x'] }, expectedTime: time * second }));
}

function job(scheduler: SchedulerName, groups: TaskGroup[], changes: Partial<JobSpec> = {}): JobSpec {
  return aJob(1, { groups, scheduler, replicasMax: 1, ...changes });
}

function machine(machineId: string, changes: Partial<SimulatedMachine> = {}): SimulatedMachine {
  return { machineId, processors: 1, speed: 1, ...changes };
}

const edge = (from: number, to: number): TaskEdge => ({ from, to });

/** Works as long as is said, in seconds, whatever the job. */
function worksFor(...times: readonly number[]): BrokerGridSetup['workOf'] {
  return (_job, index) => (times[index] ?? 1) * second;
}

/** A grid whose machines of the broker are looked at for contradictions at the end. */
function runAll(grid: BrokerGrid): void {
  grid.run();
  brokerMachine.checkInvariants(grid.state);
}

/** From the first submission to the last end. */
function getMakespan({ runs }: BrokerGrid, start: number): number {
  return Math.max(...runs.map(({ end }) => end)) - start;
}

test('a bag on machines whose speeds were learnt ends sooner by plan than as it comes, for the last tasks wait for the fast machine', (t) => {
  const makespans = (['workqueue', 'plan'] as const).map((scheduler) => {
    const grid = new BrokerGrid({
      machines: [machine('slow', { speed: 0.1 }), machine('fast')],
      workOf: () => 100 * second,
    });
    // What each machine is like is learnt from a first job.
    grid.submit(job(scheduler, timed(...Array<number>(30).fill(100))));
    runAll(grid);
    const start = grid.now;
    const before = grid.runs.length;
    grid.submit(job(scheduler, timed(100, 100, 100)));
    runAll(grid);
    return Math.max(...grid.runs.slice(before).map(({ end }) => end)) - start;
  });
  t.deepEqual(
    makespans.map((makespan) => Math.round(makespan / second)),
    [1000, 300],
  );
});

test('a first task begins at once where a machine idles', (t) => {
  const grid = new BrokerGrid({
    machines: [machine('a'), machine('b'), machine('c')],
    workOf: worksFor(10, 10, 10, 5),
  });
  const start = grid.now;
  grid.submit(job('plan', timed(10, 10, 10, 5), { edges: [edge(0, 3), edge(1, 3)] }));
  runAll(grid);
  t.deepEqual(
    grid.runs
      .filter((run) => run.start === start)
      .map(({ index }) => index)
      .sort(),
    [0, 1, 2],
  );
  t.is(getMakespan(grid, start), 15 * second);
});

test('a wide task runs among narrow ones that keep coming', (t) => {
  const grid = new BrokerGrid({ machines: [machine('wide', { processors: 2 })], workOf: () => 10 * second });
  const start = grid.now;
  grid.submit(job('plan', timed(...Array<number>(40).fill(10))));
  grid.submit(job('plan', timed(10), { processors: 2 }));
  for (let at = 1; at <= 30; at += 1)
    grid.kernel.at(start + at * 10 * second, () => {
      grid.submit(job('plan', timed(10, 10)));
    });
  runAll(grid);
  const wide = grid.runs.find(({ jobId }) => jobId === 2);
  t.true(
    wide !== undefined && wide.start - start <= 210 * second,
    `the wide task began after ${((wide?.start ?? Infinity) - start) / second} s`,
  );
});

test('a processor is kept for a wide task that begins soon, though a long narrow one is ready', (t) => {
  const grid = new BrokerGrid({
    machines: [machine('wide', { processors: 2 })],
    workOf: (jobId, index) => (jobId === 1 ? 5 : jobId === 2 ? ([10, 200][index] ?? 0) : 100) * second,
  });
  const start = grid.now;
  grid.submit(job('plan', timed(5)));
  grid.kernel.at(start + second, () => {
    grid.submit(job('plan', timed(10, 200), { processors: 2, edges: [edge(0, 1)] }));
    grid.submit(job('plan', timed(100)));
  });
  runAll(grid);
  t.deepEqual(
    grid.runs.map(({ jobId, index, start: at }) => [`${jobId}.${index}`, (at - start) / second]),
    [
      ['1.0', 0],
      ['2.0', 5],
      ['2.1', 15],
      ['3.0', 215],
    ],
  );
});

test('a task that failed is planned on another machine, and its retries do not wait for the old plan', (t) => {
  const grid = new BrokerGrid({
    machines: [machine('bad'), machine('good')],
    workOf: worksFor(10, 10, 10, 10),
    statusOf: ({ machineId, index }) => (machineId === 'p/bad' && index === 0 ? 1 : 0),
  });
  const start = grid.now;
  grid.submit(job('plan', timed(10, 10, 10, 10), { edges: [edge(0, 2), edge(0, 3)], failuresMax: 3 }));
  runAll(grid);
  const runs = grid.runs.filter(({ index }) => index === 0).map(({ machineId, outcome }) => `${machineId} ${outcome}`);
  t.deepEqual(runs, ['p/bad failed', 'p/good succeeded']);
  t.true(getMakespan(grid, start) <= 41 * second, `${getMakespan(grid, start)}`);
});

test('a task is not planned onto a machine whose allocation ends before it would, while another one stays', (t) => {
  const start = new BrokerGrid({ machines: [], workOf: worksFor() }).now;
  const grid = new BrokerGrid({
    machines: [machine('short', { until: start + 60 * second }), machine('long')],
    workOf: worksFor(100, 100, 20),
  });
  grid.submit(job('plan', timed(100, 100, 20)));
  runAll(grid);
  t.deepEqual(
    grid.runs.map(({ index, machineId, outcome }) => `${index} ${machineId} ${outcome}`),
    ['2 p/short succeeded', '0 p/long succeeded', '1 p/long succeeded'],
  );
});

test('if no machine stays long enough and none may come, the task is tried nevertheless', (t) => {
  const start = new BrokerGrid({ machines: [], workOf: worksFor() }).now;
  const grid = new BrokerGrid({ machines: [machine('short', { until: start + 60 * second })], workOf: worksFor(30) });
  grid.submit(job('plan', timed(100)));
  runAll(grid);
  t.deepEqual(
    grid.runs.map(({ outcome }) => outcome),
    ['succeeded'],
  );
});

test('when a machine is lost, its running and planned tasks go elsewhere at once', (t) => {
  const grid = new BrokerGrid({ machines: [machine('a'), machine('b')], workOf: () => 10 * second });
  const start = grid.now;
  grid.submit(job('plan', timed(...Array<number>(8).fill(10))));
  grid.kernel.at(start + 15 * second, () => {
    grid.lose('a');
  });
  runAll(grid);
  t.is(grid.state.jobs.get(1)?.status, 'finished');
  t.true(getMakespan(grid, start) <= 71 * second, `${getMakespan(grid, start)}`);
});

test('a machine that comes is planned with from then on', (t) => {
  const grid = new BrokerGrid({ machines: [machine('a')], workOf: () => 10 * second });
  const start = grid.now;
  grid.submit(job('plan', timed(...Array<number>(10).fill(10))));
  grid.kernel.at(start + 5 * second, () => {
    grid.join(machine('b'));
  });
  runAll(grid);
  t.is(getMakespan(grid, start), 55 * second);
});

test('a plan is made again when a task takes longer than was said, and what waited for its machine goes elsewhere', (t) => {
  const grid = new BrokerGrid({ machines: [machine('a'), machine('b')], workOf: worksFor(1000, 20, 5, 5) });
  const start = grid.now;
  grid.submit(job('plan', timed(10, 20, 5, 5)));
  runAll(grid);
  // The first one is late from the 12.5th second on; the others do not wait for its machine.
  const others = grid.runs.filter(({ index }) => index > 0);
  t.is(Math.max(...others.map(({ end }) => end)) - start, 30 * second);
});

test('two users jobs share the machines by their ways to the end, and neither starves', (t) => {
  const grid = new BrokerGrid({ machines: [machine('a'), machine('b')], workOf: () => 10 * second });
  const start = grid.now;
  grid.submit(
    job('plan', timed(...Array<number>(6).fill(10)), {
      edges: [edge(0, 1), edge(1, 2), edge(2, 3), edge(3, 4), edge(4, 5)],
    }),
  );
  grid.submit(
    job('plan', timed(...Array<number>(6).fill(10)), {
      edges: [edge(0, 1), edge(1, 2), edge(2, 3), edge(3, 4), edge(4, 5)],
    }),
  );
  runAll(grid);
  t.is(getMakespan(grid, start), 60 * second);
});

test('of nothing known and of short tasks no plan is made, and they run as they come', (t) => {
  const grid = new BrokerGrid({ machines: [machine('a'), machine('b')], workOf: () => 5 });
  grid.submit(job('plan', [aGroup(500)]));
  runAll(grid);
  t.is(grid.state.jobs.get(1)?.finished.size, 0, 'a job that has finished keeps no sets');
  t.is(grid.runs.length, 500);
  t.is(grid.state.planning.plan, undefined);
});

test('the same jobs give the same runs', (t) => {
  const run = (): unknown => {
    const grid = new BrokerGrid({
      machines: [machine('a'), machine('b', { speed: 0.5 })],
      workOf: (_job, index) => (1 + (index % 7)) * second,
    });
    grid.submit(
      job('plan', timed(...Array.from({ length: 60 }, (_, index) => 1 + (index % 7))), {
        edges: Array.from({ length: 50 }, (_, index) => edge(index, index + 10)),
      }),
    );
    runAll(grid);
    return grid.runs;
  };
  t.deepEqual(run(), run());
});
