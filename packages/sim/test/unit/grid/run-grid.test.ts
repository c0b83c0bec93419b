import test from 'ava';
import { conservativeBackfilling, firstComeFirstServed, type TracedRequest } from '@mutirao/core/queue';
import type { RequestFacts, RequestHeuristic } from '@mutirao/core/requests';
import { Prng } from '@mutirao/core/shared';
import { runGrid, SimulatedResource, type GridJob, type GridJobSetup } from '@mutirao/sim';

const limits = { processors: 4, requestsMax: 2, widthMax: 4, walltimeMax: 1000, walltimeGranularity: 1 };

/** Asks for the same request whenever a slot is free, up to so many at once. */
function always(width: number, walltime: number, count = 1): RequestHeuristic {
  return {
    name: 'always',
    draft: ({ pending }) => ({
      drafts: Array.from({ length: count - pending.length }, () => ({ width, walltime, reasons: [] })),
      reasons: [],
    }),
  };
}

function machine(
  ...rows: readonly (readonly [submittedAt: number, width: number, walltime: number, runTime?: number])[]
): SimulatedResource {
  const trace: TracedRequest[] = rows.map(([submittedAt, width, walltime, runTime = walltime]) => ({
    submittedAt,
    width,
    walltime,
    runTime,
  }));
  return new SimulatedResource({ policy: conservativeBackfilling('start-now'), processors: 4, trace });
}

function aJob(changes: Partial<GridJobSetup>): GridJobSetup {
  return {
    submittedAt: 10,
    taskTimes: [],
    picks: new Prng('picks'),
    heuristic: always(4, 1000),
    limits: [limits],
    ...changes,
  };
}

function runOne(resource: SimulatedResource, changes: Partial<GridJobSetup>): { job: GridJob; lines: string[] } {
  const lines: string[] = [];
  const [job] = runGrid([resource], [aJob(changes)], {
    trace: (line) => {
      lines.push(line);
    },
  });
  return { job: job!, lines };
}

function heldBy({ requests }: GridJob): (readonly [number | undefined, number | undefined, number])[] {
  return requests.map(({ startedAt, endedAt, taskTime }) => [startedAt, endedAt, taskTime]);
}

test('each free processor takes a task, and the next one when it ends; the request is held until the job ends', (t) => {
  const { job, lines } = runOne(machine(), { taskTimes: [100, 100, 100], heuristic: always(2, 1000) });
  t.is(job.finishedAt, 210);
  t.deepEqual(heldBy(job), [[10, 210, 300]]);
  t.deepEqual(lines, [
    '10 job 0 asks resource 0 for 2 processors for 1000 as request 0',
    '10 job 0 gets request 0 of resource 0',
    '210 job 0 finishes',
    '210 job 0 takes out request 0 of resource 0',
  ]);
});

test('a task that ends exactly at its walltime is done', (t) => {
  t.is(runOne(machine(), { taskTimes: [100], heuristic: always(1, 100) }).job.finishedAt, 110);
});

test('a task that its walltime cuts goes back to the bag and runs again from its start', (t) => {
  const heuristic: RequestHeuristic = {
    name: 'growing',
    draft: ({ served }) => ({ drafts: [{ width: 1, walltime: 60 * (1 + served.length), reasons: [] }], reasons: [] }),
  };
  const { job, lines } = runOne(machine(), { taskTimes: [100], heuristic });
  t.is(job.finishedAt, 170);
  t.deepEqual(heldBy(job), [
    [10, 70, 0],
    [70, 170, 100],
  ]);
  t.true(lines.includes('70 job 0 loses request 0 of resource 0 with 1 tasks'));
});

test('an idle processor of another request takes a task that was cut', (t) => {
  let drafted = 0;
  const heuristic: RequestHeuristic = {
    name: 'two',
    draft: () => ({
      drafts:
        drafted++ === 0
          ? [
              { width: 1, walltime: 50, reasons: [] },
              { width: 1, walltime: 500, reasons: [] },
            ]
          : [],
      reasons: [],
    }),
  };
  const { job } = runOne(machine(), { taskTimes: [100, 30], heuristic, picks: { below: () => 0 } as unknown as Prng });
  // Task 0 begins in the short request and task 1 in the long one, which is idle from 40 until the cut at 60.
  t.deepEqual(heldBy(job), [
    [10, 60, 0],
    [10, 160, 130],
  ]);
});

test('a request waits behind local users, and what it leaves early lets them start', (t) => {
  const resource = machine([0, 4, 100], [5, 3, 200]);
  const { job } = runOne(resource, { taskTimes: [20], heuristic: always(2, 300) });
  t.deepEqual(heldBy(job), [[300, 320, 20]]);
  const other = machine([0, 4, 100, 50], [30, 4, 100]);
  runOne(other, { taskTimes: [20], heuristic: always(2, 300), submittedAt: 20 });
  t.deepEqual(
    [...other.plan.running.values()].map(({ id, startsAt }) => [id, startsAt]),
    [[1, 70]],
  );
});

test('a request that still waits when the job ends is withdrawn and holds nothing', (t) => {
  const { job } = runOne(machine(), { taskTimes: [20], heuristic: always(4, 300, 2) });
  t.deepEqual(heldBy(job), [
    [10, 30, 20],
    [undefined, 30, 0],
  ]);
});

test('a heuristic gets pending, served and observed; decisions are at the submission and at each own end', (t) => {
  const received: RequestFacts[] = [];
  const heuristic: RequestHeuristic = {
    name: 'listens',
    draft: (facts) => {
      received.push(facts);
      return always(1, 100).draft(facts);
    },
  };
  const { job } = runOne(machine([0, 2, 500]), { taskTimes: [60, 60, 60], heuristic });
  t.is(job.finishedAt, 270);
  t.deepEqual(
    received.map(({ now, isFirst, demand }) => [now, isFirst, demand.pendingTasks]),
    [
      [10, true, 3],
      [110, false, 2],
      [210, false, 1],
    ],
  );
  t.deepEqual(
    received.map(({ taskTimes }) => taskTimes),
    [undefined, { longest: 60, mean: 60, count: 1 }, { longest: 60, mean: 60, count: 2 }],
  );
  t.deepEqual(received[2]?.served, [
    { requestId: '1', width: 1, walltime: 100, startedAt: 10, endedAt: 110, taskTime: 60 },
    { requestId: '2', width: 1, walltime: 100, startedAt: 110, endedAt: 210, taskTime: 60 },
  ]);
  t.deepEqual(
    [received[0]?.listing.processorsFree, received[0]?.queue?.profile.freeAt(10), received[0]?.queue?.waitingCount],
    [2, 2, 0],
  );
});

test('under a policy without promises a heuristic gets the listing itself', (t) => {
  let received: RequestFacts | undefined;
  const heuristic: RequestHeuristic = {
    name: 'listens',
    draft: (facts) => {
      received ??= facts;
      return always(1, 100).draft(facts);
    },
  };
  const trace = [
    { submittedAt: 0, width: 3, walltime: 50, runTime: 50 },
    { submittedAt: 1, width: 2, walltime: 70, runTime: 70 },
  ];
  runOne(new SimulatedResource({ policy: firstComeFirstServed, processors: 4, trace }), { taskTimes: [5], heuristic });
  t.is(received?.queue, undefined);
  t.deepEqual(
    received?.listing.requests.map(({ width, status, startsAt }) => [width, status, startsAt]),
    [
      [3, 'running', 0],
      [2, 'queued', 0],
    ],
  );
});

test('idle requests are released where that is asked for', (t) => {
  const { job } = runOne(machine(), {
    taskTimes: [20, 50],
    heuristic: always(1, 300, 2),
    releasesIdle: true,
    picks: { below: () => 0 } as unknown as Prng,
  });
  t.deepEqual(heldBy(job), [
    [10, 30, 20],
    [10, 60, 50],
  ]);
  const held = runOne(machine(), {
    taskTimes: [20, 50],
    heuristic: always(1, 300, 2),
    picks: { below: () => 0 } as unknown as Prng,
  });
  t.deepEqual(heldBy(held.job), [
    [10, 60, 20],
    [10, 60, 50],
  ]);
});

test('if idle requests are released, one that starts without a task is released at once, and the one that waits behind it starts', (t) => {
  const changes = { taskTimes: [100], heuristic: always(1, 300, 2) };
  const users = (): SimulatedResource => machine([0, 3, 40], [20, 3, 200]);
  const resource = users();
  const released = runOne(resource, { ...changes, releasesIdle: true });
  t.deepEqual(heldBy(released.job), [
    [10, 110, 100],
    [40, 40, 0],
  ]);
  t.deepEqual(heldBy(runOne(users(), changes).job), [
    [10, 110, 100],
    [40, 110, 0],
  ]);
  t.deepEqual(
    [...resource.plan.running.values()].map(({ startsAt }) => startsAt),
    [40],
  );
});

test('a job uses several resources, and several jobs share one', (t) => {
  const twice = runGrid(
    [machine(), machine([0, 4, 30])],
    [aJob({ limits: [limits, limits], taskTimes: [40, 40, 40], heuristic: always(1, 500) })],
  );
  // The first resource is free at once; the second begins at 30 and takes the third task.
  t.is(twice[0]?.finishedAt, 90);
  t.deepEqual(
    twice[0]?.requests.map(({ resource, startedAt }) => [resource, startedAt]),
    [
      [0, 10],
      [1, 30],
    ],
  );
  const [first, second] = runGrid([machine()], [aJob({ taskTimes: [40] }), aJob({ taskTimes: [40], submittedAt: 20 })]);
  t.deepEqual([first?.finishedAt, second?.finishedAt], [50, 90]);
});

test('a resource is asked for the tasks that no other resource runs', (t) => {
  const received: (readonly [processors: number, pendingTasks: number])[] = [];
  const heuristic: RequestHeuristic = {
    name: 'listens',
    draft: (facts) => {
      received.push([facts.limits.processors, facts.demand.pendingTasks]);
      return always(1, facts.limits.processors === 4 ? 500 : 25).draft(facts);
    },
  };
  const other = new SimulatedResource({ policy: conservativeBackfilling('start-now'), processors: 2, trace: [] });
  const twoLimits = [limits, { ...limits, processors: 2, widthMax: 2 }];
  runGrid([machine(), other], [aJob({ limits: twoLimits, taskTimes: [20, 20, 20, 20], heuristic })]);
  // At 35 one task is done at each, and the second resource lost the one it had taken at 30; the first runs another.
  t.deepEqual(received, [
    [4, 4],
    [2, 4],
    [2, 1],
  ]);
});

test('the task that a processor takes is drawn, whatever the order of the tasks', (t) => {
  const drawn = (below: (count: number) => number): unknown =>
    heldBy(
      runOne(machine(), { taskTimes: [10, 40], heuristic: always(1, 45), picks: { below } as unknown as Prng }).job,
    );
  t.deepEqual(
    drawn((count) => count - 1),
    [
      [10, 55, 40],
      [55, 65, 10],
    ],
  );
  t.deepEqual(
    drawn(() => 0),
    [
      [10, 55, 10],
      [55, 95, 40],
    ],
  );
});

test('a heuristic gets the longest task and the mean, in whatever order they ended', (t) => {
  const received: RequestFacts['taskTimes'][] = [];
  const heuristic: RequestHeuristic = {
    name: 'listens',
    draft: (facts) => {
      received.push(facts.taskTimes);
      return always(1, 75).draft(facts);
    },
  };
  // The last of those that wait comes to the front when the first is drawn: 50, then 20, then 30, which is cut.
  runOne(machine(), { taskTimes: [50, 30, 20], heuristic, picks: { below: () => 0 } as unknown as Prng });
  t.deepEqual(received, [undefined, { longest: 50, mean: 35, count: 2 }]);
});

test('at one instant a local submission comes before the end of a job, which then brings no request forward that it would delay', (t) => {
  const resource = machine([0, 1, 1], [20, 4, 1000], [30, 2, 50]);
  runOne(resource, { taskTimes: [20], heuristic: always(2, 300) });
  t.deepEqual(
    [...resource.plan.running.values()].map(({ id, startsAt }) => [id, startsAt]),
    [[2, 30]],
  );
});

test('a request whose walltime ends with its task takes no other task', (t) => {
  const { lines } = runOne(machine(), { taskTimes: [50, 50], heuristic: always(1, 50) });
  t.true(lines.includes('60 job 0 loses request 0 of resource 0 with 0 tasks'));
});

test('when a job is finished its running requests are taken out first, the waiting ones then', (t) => {
  let drafted = 0;
  const heuristic: RequestHeuristic = {
    name: 'two',
    draft: () => ({
      drafts:
        drafted++ === 0
          ? [
              { width: 4, walltime: 300, reasons: [] },
              { width: 3, walltime: 300, reasons: [] },
            ]
          : [],
      reasons: [],
    }),
  };
  const resource = machine([0, 1, 1], [20, 4, 100], [21, 1, 100]);
  runOne(resource, { taskTimes: [20], heuristic });
  // The waiting request of 3 processors comes forward first and leaves one for the second local user; the first needs
  // all four.
  t.deepEqual(
    [...resource.plan.running.values()].map(({ id, startsAt }) => [id, startsAt]),
    [[2, 30]],
  );
});

test("with the live provider's conduct waiting requests are withdrawn once running ones are enough for the tasks", (t) => {
  // Local users have two processors until 150: one request runs beside them and the other one waits.
  const changes = { taskTimes: [100, 100, 100], heuristic: always(2, 300, 2) };
  t.deepEqual(heldBy(runOne(machine([0, 2, 150]), changes).job), [
    [10, 210, 300],
    [150, 210, 0],
  ]);
  t.deepEqual(heldBy(runOne(machine([0, 2, 150]), { ...changes, conduct: 'provider' }).job), [
    [10, 210, 300],
    [undefined, 110, 0],
  ]);
});

test("with the live provider's conduct nothing is asked for while what runs is enough for the tasks", (t) => {
  const asked = (conduct: 'study' | 'provider'): number => {
    let count = 0;
    const heuristic: RequestHeuristic = {
      name: 'short and long',
      draft: () => ({
        drafts: [
          { width: 1, walltime: 60, reasons: [] },
          { width: 2, walltime: 900, reasons: [] },
        ].slice(count++ === 0 ? 0 : 1),
        reasons: [],
      }),
    };
    runOne(machine(), { taskTimes: [200, 200, 50], picks: { below: () => 0 } as unknown as Prng, heuristic, conduct });
    return count;
  };
  t.deepEqual([asked('study'), asked('provider')], [2, 1]);
});

test("with the live provider's conduct a decision comes after what starts at that instant", (t) => {
  const waiting = (conduct: 'study' | 'provider'): number[] => {
    const counts: number[] = [];
    const heuristic: RequestHeuristic = {
      name: 'counting',
      draft: ({ queue }) => {
        counts.push(queue?.waitingCount ?? -1);
        return { drafts: [{ width: 4, walltime: 100, reasons: [] }], reasons: [] };
      },
    };
    runOne(machine([20, 4, 50]), { taskTimes: [90, 90, 90, 90, 90], heuristic, conduct });
    return counts;
  };
  t.deepEqual(waiting('study'), [0, 1]);
  t.deepEqual(waiting('provider'), [0, 0]);
});

test('a job whose tasks go from one request that ends too soon to the next one is never finished, and stopped at the instant that was named', (t) => {
  // 10 to 60 and 10 to 90, then 60 s each: whichever is there has 30 s left when the task comes to it.
  const heuristic: RequestHeuristic = {
    name: 'overlapping',
    draft: ({ isFirst }) => ({
      drafts: (isFirst === true ? [50, 80] : [60]).map((walltime) => ({ width: 1, walltime, reasons: [] })),
      reasons: [],
    }),
  };
  const [job] = runGrid([machine()], [aJob({ taskTimes: [58], heuristic })], { until: 100_000 });
  t.is(job!.finishedAt, undefined);
  t.true(job!.requests.length > 1000, `${job!.requests.length} requests`);
});
