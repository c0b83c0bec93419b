// Topcuoglu, Hariri and Wu 2002 (the example of Figure 2) and moreira2009, whose Figura 2.1 is the same graph.
import test from 'ava';
import {
  bLevels,
  cpop,
  findCriticalPath,
  findScheduleFault,
  freshProblem,
  heft,
  hpts,
  ihpts,
  getMakespan,
  makeWorkflow,
  measureSchedule,
  platformCosts,
  scheduleArrivals,
  scheduleExclusively,
  tableCosts,
  tLevels,
  withoutOverlap,
  type Placement,
  type SchedulingProblem,
  type TaskDraft,
  type Workflow,
} from '@mutirao/core/workflow';
import { tenTasks } from '@mutirao/testkit';

const rounded = (values: readonly number[]): number[] => values.map((value) => Math.round(value * 1000) / 1000);

test('moreira2009, Tabela 2.2: t-levels and b-levels, with the run times on the first processor', (t) => {
  const { workflow, tables } = tenTasks();
  const costs = { times: tables.times.map(([first = 0]) => first), transfers: tables.transfers };
  t.deepEqual(tLevels(workflow, costs), [0, 32, 26, 23, 25, 28, 60, 64, 61, 92]);
  t.deepEqual(bLevels(workflow, costs), [113, 81, 79, 88, 77, 65, 45, 37, 52, 21]);
});

test('moreira2009, 2.2.1.3: the critical path is the longest one, with the run times on the first processor 1, 2, 9, 10', (t) => {
  const { workflow, tables } = tenTasks();
  const costs = { times: tables.times.map(([first = 0]) => first), transfers: tables.transfers };
  t.deepEqual(findCriticalPath(workflow, costs), { tasks: [0, 1, 8, 9], length: 113 });
});

test('Topcuoglu 2002, Table 1: upward ranks with mean costs', (t) => {
  const { workflow, tables } = tenTasks();
  const costs = {
    times: tables.times.map((row) => row.reduce((sum, time) => sum + time, 0) / 3),
    transfers: tables.transfers,
  };
  t.deepEqual(rounded(bLevels(workflow, costs)), [108, 77, 80, 80, 69, 63.333, 42.667, 35.667, 44.333, 14.667]);
  t.deepEqual(rounded(tLevels(workflow, costs)), [0, 31, 25, 22, 24, 27, 62.333, 66.667, 63.667, 93.333]);
});

test('Topcuoglu 2002, Figure 3(a): HEFT needs 80, and places every task as the article draws it', (t) => {
  const { problem } = tenTasks();
  const schedule = heft.schedule(problem);
  t.is(getMakespan(schedule), 80);
  const drawn = schedule.placements.map(({ task, processors, start, end }: Placement) => [
    task + 1,
    (processors[0] ?? 0) + 1,
    start,
    end,
  ]);
  t.deepEqual(drawn, [
    [1, 3, 0, 9],
    [2, 1, 27, 40],
    [3, 3, 9, 28],
    [4, 2, 18, 26],
    [5, 3, 28, 38],
    [6, 2, 26, 42],
    [7, 3, 38, 49],
    [8, 1, 57, 62],
    [9, 2, 56, 68],
    [10, 2, 73, 80],
  ]);
});

test('Topcuoglu 2002, Figure 3(b): CPOP needs 86, with 1, 2, 9 and 10 on the second processor', (t) => {
  const { problem } = tenTasks();
  const schedule = cpop.schedule(problem);
  t.is(getMakespan(schedule), 86);
  t.deepEqual(
    [0, 1, 8, 9].map((task) => [schedule.placements[task]?.processors, schedule.placements[task]?.reason.rule]),
    Array(4).fill([[1], 'critical-path']),
  );
  t.is(findScheduleFault(problem, schedule), undefined);
});

test('Topcuoglu 2002, 5.1: speedup is the least sequential time over the makespan, and no schedule beats the least path', (t) => {
  const { problem, workflow, tables } = tenTasks();
  const { makespan, speedup, efficiency, bound } = measureSchedule(
    workflow,
    tableCosts(workflow, tables),
    3,
    heft.schedule(problem),
  );
  t.deepEqual(
    [makespan, bound, rounded([speedup, efficiency])],
    [80, 41, [127 / 80, 127 / 240].map((value) => Math.round(value * 1000) / 1000)],
  );
});

test('moreira2009, 3.2.1.1: a task is placed by EFT(i, j) = w(i, j) + max(avail_j, AFT(m) + L + data / B)', (t) => {
  const workflow = makeWorkflow({
    tasks: [
      { id: 'a', work: 100 },
      { id: 'b', work: 60 },
    ],
    edges: [{ from: 'a', to: 'b', data: 1_000 }],
  });
  const processors = [
    { name: 'slow', speed: 50 },
    { name: 'fast', speed: 100 },
  ];
  const costs = platformCosts(workflow, { processors, startUp: 10, bandwidth: 10_000 });
  t.is(
    costs.transfer(0, { processors: [1], start: 0, end: 1000 }, [0]),
    110,
    '10 ms and 1,000 bytes at 10,000 a second',
  );
  t.is(costs.transfer(0, { processors: [1], start: 0, end: 1000 }, [1]), 0, 'nothing on the same processor');
  t.is(costs.meanTime(0), 1500);
  const { placements } = heft.schedule(freshProblem(workflow, costs, 2));
  t.deepEqual(
    placements.map(({ processors: on, end }) => [on, end]),
    [
      [[1], 1000],
      [[1], 1600],
    ],
  );
});

test('moreira2009, 3.2.1.2: a task goes into the first free slot between two tasks on a processor that is long enough, and says so', (t) => {
  const workflow = makeWorkflow({
    tasks: ['a', 'b', 'c', 'x'].map((id) => ({ id, work: 0 })),
    edges: [
      { from: 'a', to: 'c' },
      { from: 'b', to: 'c' },
    ],
  });
  const tables = {
    times: [
      [4, 4],
      [4, 4],
      [10, 10],
      [3, 8],
    ],
    transfers: [5, 5],
  };
  const { placements } = heft.schedule(freshProblem(workflow, tableCosts(workflow, tables), 2));
  t.deepEqual(
    placements.map(({ processors: on, start, end }) => [on[0], start, end]),
    [
      [0, 0, 4],
      [1, 0, 4],
      [0, 9, 19],
      [0, 4, 7],
    ],
  );
  t.deepEqual(placements[3]?.reason, {
    rule: 'inserted',
    heldBy: 'processor',
    behind: 0,
    runnerUp: { processor: 1, end: 12 },
  });
  t.deepEqual(placements[2]?.reason, {
    rule: 'earliest-finish',
    heldBy: 'data',
    behind: 1,
    runnerUp: { processor: 1, end: 19 },
  });
});

test('moreira2009, 3.2.2.1: a matrix product on an r x c grid takes n^2 (r + c - 2) / bandwidth + latency + 2 n^3 / sum S', (t) => {
  const n = 1000;
  const workflow = makeWorkflow({
    tasks: [{ id: 'product', work: (2 * n ** 3) / 1e6, exchange: 8 * n ** 2, widthMin: 1, widthMax: 12 }],
    edges: [],
  });
  const processors = Array.from({ length: 12 }, (_, index) => ({ name: `p${index}`, speed: 100 }));
  const { time } = platformCosts(workflow, { processors, startUp: 5, bandwidth: 125e6 });
  const all = processors.map((_, index) => index);
  t.is(time(0, [0]), 20_000);
  t.is(time(0, all), 5 + 64 * (3 + 4 - 2) + 20_000 / 12, 'a grid of 3 x 4');
  t.is(time(0, all.slice(0, 7)), 5 + 64 * (1 + 7 - 2) + 20_000 / 7, 'seven in a row');
});

/** Independent tasks on processors of these speeds. */
function independent(tasks: readonly TaskDraft[], speeds: readonly number[]): SchedulingProblem {
  const workflow = makeWorkflow({ tasks, edges: [] });
  const processors = speeds.map((speed, index) => ({ name: `p${index}`, speed }));
  return freshProblem(workflow, platformCosts(workflow, { processors, startUp: 0, bandwidth: 1e6 }), speeds.length);
}

const getEnds = ({ placements }: { readonly placements: readonly Placement[] }): unknown[] =>
  placements.map(({ processors, end }) => [processors.length, end]);

test('moreira2009, 3.2.2.2: ready tasks share the capacity by S*, and one that gains nothing from more keeps one', (t) => {
  const wide = { work: 100, widthMin: 1, widthMax: 4 };
  t.deepEqual(getEnds(hpts.schedule(independent([{ id: 'a', ...wide }], [100, 100, 100, 100]))), [[4, 250]]);
  t.deepEqual(
    getEnds(
      hpts.schedule(
        independent(
          [
            { id: 'a', ...wide },
            { id: 'b', ...wide },
          ],
          [100, 100, 100, 100],
        ),
      ),
    ),
    [
      [2, 500],
      [2, 500],
    ],
  );
  t.deepEqual(
    getEnds(hpts.schedule(independent([{ id: 'a', ...wide, exchange: 1e6 }], [100, 100, 100, 100]))),
    [[1, 1000]],
    'two would send for a second',
  );
});

test('moreira2009, 3.2.2.2, lines 15 to 23: processors move from the least b-level to the greatest', (t) => {
  const wide = { widthMin: 1, widthMax: 4 };
  const schedule = hpts.schedule(
    independent(
      [
        { id: 'short', work: 100, ...wide },
        { id: 'long', work: 300, ...wide },
      ],
      [100, 100, 100, 100],
    ),
  );
  t.deepEqual(getEnds(schedule), [
    [1, 1000],
    [3, 1000],
  ]);
  t.deepEqual(
    schedule.placements.map(({ reason }) => reason.rule),
    ['exchanged', 'exchanged'],
  );
});

test('moreira2009, 3.2.2.2: more ready tasks than processors get one each, and the rest waits', (t) => {
  const tasks = Array.from({ length: 5 }, (_, index) => ({ id: `t${index}`, work: 100, widthMin: 1, widthMax: 2 }));
  t.deepEqual(getEnds(hpts.schedule(independent(tasks, [100, 100]))), [
    [1, 1000],
    [1, 1000],
    [1, 2000],
    [1, 2000],
    [1, 3000],
  ]);
});

test('moreira2009, 3.3, Figuras 3.5 and 3.6: of 20 equal processors HEFT leaves all but four of ten tasks idle, and HPTS loads all alike', (t) => {
  const { workflow: ten, tables } = tenTasks();
  const first = tables.times.map(([time = 0]) => time);
  const workflow = makeWorkflow({
    tasks: first.map((time, index) => ({ id: `${index}`, work: 100 * time, widthMin: 1, widthMax: 20 })),
    edges: ten.edges.map(({ from, to }, edge) => ({
      from: `${from}`,
      to: `${to}`,
      share: (tables.transfers[edge] ?? 0) / (first[from] ?? 1),
    })),
  });
  const processors = Array.from({ length: 20 }, (_, index) => ({ name: `p${index}`, speed: 100 }));
  const problem = freshProblem(workflow, platformCosts(workflow, { processors, startUp: 0, bandwidth: 125e6 }), 20);
  const getLoads = (scheduler: typeof hpts): number[] => {
    const loads = processors.map(() => 0);
    for (const { processors: on, start, end } of scheduler.schedule(problem).placements)
      for (const processor of on) loads[processor] = (loads[processor] ?? 0) + (end - start) / 1000;
    return loads.sort((one, other) => other - one);
  };
  t.deepEqual(getLoads(heft).slice(0, 5).map(Math.round), [79, 23, 13, 12, 0]);
  const loads = getLoads(hpts);
  t.true((loads[0] ?? 0) < 2 * (loads[19] ?? 0), `from ${loads[19]} to ${loads[0]} s`);
});

test('moreira2009, 3.2.3: HPTS gives a task the processor that is free first, iHPTS the one on which it ends first', (t) => {
  const problem = { ...independent([{ id: 'a', work: 100 }], [100, 10]), availableFrom: [1000, 0] };
  t.deepEqual(getEnds(hpts.schedule(problem)), [[1, 10_000]]);
  t.deepEqual(getEnds(ihpts.schedule(problem)), [[1, 2000]]);
});

test('moreira2009, 3.2.2.1 and 6.1: without overlap a processor receives once it is idle, and computes nothing until all is there', (t) => {
  const edges = [
    { from: 'a', to: 'c', share: 0.3 },
    { from: 'b', to: 'c', share: 0.5 },
  ];
  const workflow = makeWorkflow({ tasks: ['a', 'b', 'c'].map((id) => ({ id, work: 100 })), edges });
  const processors = [100, 100].map((speed, index) => ({ name: `p${index}`, speed }));
  const reason = { rule: 'fixed', heldBy: 'arrival', behind: undefined, runnerUp: undefined } as const;
  const fixed = [0, 1].map((task) => ({ task, processors: [0], start: 1000 * task, end: 1000 * (task + 1), reason }));
  const plain = platformCosts(workflow, { processors, startUp: 0, bandwidth: 1e6 });
  const startOf = (scheduler: typeof hpts, idleFrom: number, wait = 0): number | undefined => {
    const costs: typeof plain = { ...plain, transfer: (...question) => plain.transfer(...question) + wait };
    const problem = {
      ...freshProblem(workflow, costs, 2),
      now: 2000,
      availableFrom: [Infinity, idleFrom],
      fixed: [...fixed, undefined],
    };
    const schedule = scheduler.schedule(problem);
    t.is(findScheduleFault(problem, schedule), undefined);
    return schedule.placements[2]?.start;
  };
  t.deepEqual(
    [hpts, ihpts, withoutOverlap.hpts, withoutOverlap.ihpts].map((scheduler) => startOf(scheduler, 5000)),
    [5000, 5000, 5500, 5500],
    'both send at once, the longer one counts',
  );
  t.is(
    startOf(withoutOverlap.hpts, 5000, 2000),
    5500,
    'what is sent late, but before the processor is idle, takes no longer to receive',
  );
  t.deepEqual(
    [hpts, withoutOverlap.hpts].map((scheduler) => startOf(scheduler, 0)),
    [2500, 2500],
    'a processor that waits for the sender loses nothing',
  );
});

const chain = (name: string, works: readonly number[]): Workflow =>
  makeWorkflow({
    tasks: works.map((work, index) => ({ id: `${name}${index}`, work })),
    edges: works.slice(1).map((_, index) => ({ from: `${name}${index}`, to: `${name}${index + 1}` })),
  });
const oneProcessor = (processorCount: number) => ({
  processorCount,
  scheduler: heft,
  costsOf: (workflow: Workflow) =>
    platformCosts(workflow, {
      processors: Array.from({ length: processorCount }, (_, index) => ({ name: `p${index}`, speed: 100 })),
      startUp: 0,
      bandwidth: 1e6,
    }),
});

test('moreira2009, 3.1, Figura 3.2: with an arrival running tasks stay and all others are scheduled again; in immediate mode promised ones stay too', (t) => {
  const arrivals = [
    { workflow: chain('a', [100, 100]), at: 0 },
    { workflow: chain('b', [500]), at: 400 },
  ];
  const getStarts = (mode: 'batch' | 'immediate'): number[] =>
    scheduleArrivals(arrivals, mode, oneProcessor(1)).schedule.placements.map(({ start }) => start);
  t.deepEqual(
    getStarts('batch'),
    [0, 6000, 1000],
    'the newcomer has the greater b-level and goes before the second task of the first job',
  );
  t.deepEqual(getStarts('immediate'), [0, 1000, 2000]);
});

test('moreira2009, 3.1: data of an ended task was sent to where its receiver was planned, and takes its time again when an arrival moves the receiver', (t) => {
  const job = makeWorkflow({
    tasks: [
      { id: 'a', work: 100 },
      { id: 'b', work: 500 },
    ],
    edges: [{ from: 'a', to: 'b', share: 0.5 }],
  });
  const reason = { rule: 'fixed', heldBy: 'arrival', behind: undefined, runnerUp: undefined } as const;
  const seen: number[][] = [];
  const reported: typeof heft = {
    name: 'told',
    schedule({ workflow, costs, fixed, now }) {
      const a = { processors: [0], start: 0, end: 1000 };
      seen.push([[0], [1], [2], []].map((receivers) => costs.transfer(0, a, receivers)));
      const b = { processors: [now < 1200 ? 1 : 2], start: 9000, end: 14_000 };
      return {
        scheduler: 'told',
        placements: workflow.tasks.map((_, task) => fixed[task] ?? { task, reason, ...(task === 0 ? a : b) }),
      };
    },
  };
  const arrivals = [
    { workflow: job, at: 0 },
    ...[1200, 1300, 1400].map((at) => ({ workflow: chain(`x${at}`, [1]), at })),
  ];
  scheduleArrivals(arrivals, 'batch', { ...oneProcessor(3), scheduler: reported });
  t.deepEqual(
    seen,
    [
      [0, 500, 500, 500],
      [0, 500, 700, 500],
      [0, 800, 700, 700],
      [0, 900, 700, 700],
    ],
    'b is planned on the second processor, and from 1200 on the third',
  );
});

test('moreira2009, 5.3: 1J-1P gives each job one processor, and a job waits until one is free', (t) => {
  const arrivals = [
    { workflow: chain('a', [100, 100]), at: 0 },
    { workflow: chain('b', [100]), at: 10 },
    { workflow: chain('c', [50, 50]), at: 20 },
  ];
  const { schedule } = scheduleExclusively(arrivals, 1, oneProcessor(2));
  t.deepEqual(
    schedule.placements.map(({ processors, start }) => [processors[0], start]),
    [
      [0, 0],
      [0, 1000],
      [1, 10],
      [1, 1010],
      [1, 1510],
    ],
  );
});
