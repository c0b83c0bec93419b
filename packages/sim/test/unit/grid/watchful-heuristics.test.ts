import test from 'ava';
import { conservativeBackfilling, type TracedRequest } from '@mutirao/core/queue';
import { RequestBudget, type RequestDecision, type RequestFacts, type RequestHeuristic } from '@mutirao/core/requests';
import { Prng } from '@mutirao/core/shared';
import { runGrid, SimulatedResource, type GridJob, type GridJobSetup } from '@mutirao/sim';

const limits = { processors: 4, requestsMax: 2, widthMax: 4, walltimeMax: 1000, walltimeGranularity: 1 };

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

/** A heuristic that decides at every event, by what it has decided before. */
function watching(
  draft: (facts: RequestFacts) => Partial<RequestDecision>,
  received: RequestFacts[] = [],
): RequestHeuristic {
  return {
    name: 'watching',
    decidesAt: 'queue events',
    draft: (facts) => {
      received.push(facts);
      return { drafts: [], reasons: [], ...draft(facts) };
    },
  };
}

function run(resource: SimulatedResource, heuristic: RequestHeuristic, changes: Partial<GridJobSetup> = {}): GridJob {
  const [job] = runGrid(
    [resource],
    [{ submittedAt: 10, taskTimes: [60, 60, 60], picks: new Prng('picks'), heuristic, limits: [limits], ...changes }],
  );
  return job as GridJob;
}

const ask = (width: number, walltime: number): Pick<RequestDecision, 'drafts'> => ({
  drafts: [{ width, walltime, reasons: [] }],
});

test('it decides when any request ended, when an own one has started and when tasks are done, once at each instant', (t) => {
  const received: RequestFacts[] = [];
  const job = run(
    machine([0, 2, 500, 40], [1, 2, 500, 70]),
    watching(({ isFirst }) => (isFirst === true ? ask(2, 300) : {}), received),
  );
  // At 40 a local user leaves, and the request starts; at 71 the other one; at 100 two tasks are done, at 160 the job.
  t.deepEqual(
    received.map(({ now, trigger }) => [now, trigger]),
    [
      [10, undefined],
      [40, 'queue'],
      [71, 'own'],
      [100, 'own'],
    ],
  );
  t.deepEqual(
    received.map(({ taskSpread }) => taskSpread),
    [undefined, undefined, undefined, { shortest: 60, deviation: 0 }],
  );
  t.is(job.finishedAt, 160);
});

test('it gets what its requests were promised, their latest starts, what runs in them and what was cut off', (t) => {
  const received: RequestFacts[] = [];
  const resource = machine([0, 2, 500, 40], [1, 2, 500, 70], [11, 1, 2000, 1000]);
  run(
    resource,
    watching(
      ({ isFirst, served }) =>
        isFirst === true ? ask(2, 50) : served.length === 1 && received.at(-1)?.pending.length === 0 ? ask(3, 300) : {},
      received,
    ),
  );
  t.deepEqual(received[1]?.pending, [
    {
      requestId: '3',
      listedAs: '3',
      width: 2,
      walltime: 50,
      status: 'queued',
      startedAt: 0,
      submittedAt: 10,
      promisedStart: 500,
      predictedStart: 40,
    },
  ]);
  t.deepEqual(received[2]?.pending[0]?.tasks, [{ count: 2, time: 31 }]);
  t.deepEqual(received[2]?.waits, [{ width: 2, walltime: 50, promised: 490, actual: 30 }]);
  const cut = received.find(({ served }) => served.length === 1);
  t.deepEqual([cut?.now, cut?.cutOff, cut?.taskSpread], [90, [{ count: 2, time: 50 }], undefined]);
});

test('it is asked again when it wanted to be, though nothing happened, and never at once', (t) => {
  const received: RequestFacts[] = [];
  run(
    machine([0, 4, 5000]),
    watching(
      ({ now, isFirst }) =>
        isFirst === true ? { ...ask(4, 300), reviewAt: now } : now < 4000 ? { reviewAt: now + 1500 } : {},
      received,
    ),
  );
  t.deepEqual(
    received.slice(0, 4).map(({ now, trigger }) => [now, trigger]),
    [
      [10, undefined],
      [1010, 'review'],
      [2510, 'review'],
      [4010, 'review'],
    ],
  );
});

test('the review that it wanted comes at its time, whatever happens to others before and at that instant', (t) => {
  const receivedWith = (end: number): unknown => {
    const received: RequestFacts[] = [];
    run(
      machine([0, 3, 9000], [0, 1, 9000, end]),
      watching(({ isFirst }) => (isFirst === true ? { ...ask(4, 300), reviewAt: 6010 } : {}), received),
    );
    return received.filter(({ now }) => now > 10 && now <= 6010).map(({ now, trigger }) => [now, trigger]);
  };
  t.deepEqual(
    [receivedWith(3000), receivedWith(6010)],
    [
      [
        [3000, 'queue'],
        [6010, 'review'],
      ],
      [[6010, 'review']],
    ],
  );
});

test('a waiting request that it gives up is withdrawn before its drafts are submitted; a running one is released, and its task runs again elsewhere', (t) => {
  const withdrawn = run(
    machine([0, 4, 100], [5, 1, 500]),
    watching(({ now, isFirst, pending }) => {
      if (isFirst === true) return ask(4, 300);
      return now === 100
        ? { givenUp: pending.map(({ requestId }) => ({ requestId, reasons: [] })), ...ask(3, 300) }
        : {};
    }),
  );
  t.deepEqual(
    withdrawn.requests.map(({ startedAt, endedAt }) => [startedAt, endedAt]),
    [
      [undefined, 100],
      [100, 160],
    ],
  );
  t.deepEqual([withdrawn.withdrawalCount, withdrawn.releaseCount], [1, 0]);
  const released = run(
    machine([0, 1, 500], [1, 2, 500, 30]),
    watching(({ isFirst, now, pending }) => {
      if (isFirst === true) return ask(1, 300);
      return now === 31
        ? { givenUp: pending.map(({ requestId }) => ({ requestId, reasons: [] })), ...ask(3, 300) }
        : {};
    }),
  );
  t.deepEqual(
    released.requests.map(({ startedAt, endedAt, taskTime }) => [startedAt, endedAt, taskTime]),
    [
      [10, 31, 0],
      [31, 91, 180],
    ],
  );
  t.deepEqual([released.withdrawalCount, released.releaseCount], [0, 1]);
  t.deepEqual(released.tasks.cutOff, [{ count: 1, time: 21 }]);
});

test('the driver keeps a budget of submissions and withdrawals by the hour', (t) => {
  const left: unknown[] = [];
  const heuristic = watching(({ now, budget, pending }) => {
    left.push(budget);
    const givenUp = pending.map(({ requestId }) => ({ requestId, reasons: [] }));
    return now < 4_000_000 ? { givenUp, ...ask(4, 300), reviewAt: now + 1_800_000 } : {};
  });
  run(machine([0, 4, 5_000_000]), heuristic);
  t.deepEqual(left.slice(0, 4), [
    { submissions: 60, withdrawals: 30 },
    { submissions: 59, withdrawals: 30 },
    { submissions: 59, withdrawals: 29 },
    { submissions: 58, withdrawals: 28 },
  ]);
  const budget = new RequestBudget({ submissions: 1, withdrawals: 1 });
  budget.noteSubmission(0);
  budget.noteSubmission(5);
  t.deepEqual(
    [budget.leftAt(10), budget.leftAt(3_600_000), budget.leftAt(3_600_005)].map(({ submissions }) => submissions),
    [0, 0, 1],
  );
});

test('a decision beyond the budget is a bug of the heuristic', (t) => {
  const flooding = watching(({ now, pending }) =>
    now > 10_000_000
      ? {}
      : { givenUp: pending.map(({ requestId }) => ({ requestId, reasons: [] })), ...ask(4, 300), reviewAt: now + 1000 },
  );
  t.throws(() => run(machine([0, 4, 50_000_000]), flooding), {
    message: /watching gave up 1 requests, 0 left of this hour/u,
  });
});

test('it learns when a request was released in which no task had begun, and nothing of one in which some had', (t) => {
  const received: RequestFacts[] = [];
  const drafts = [2, 1].map((width) => ({ width, walltime: 300, reasons: [] }));
  const job = run(
    machine([0, 2, 500, 40]),
    { ...watching(({ isFirst }) => (isFirst === true ? { drafts } : {}), received), releasesIdle: true },
    { taskTimes: [50, 80] },
  );
  // The first takes both tasks at once; the second starts when a local user leaves, at 40, and finds none.
  t.deepEqual(
    job.requests.map(({ startedAt, endedAt, isUsed }) => [startedAt, endedAt, isUsed]),
    [
      [10, 90, true],
      [40, 40, false],
    ],
  );
  t.deepEqual(
    received.map(({ now, unusedAt }) => [now, unusedAt]),
    [
      [10, undefined],
      [40, undefined],
      [60, 40],
    ],
  );
});

test('a heuristic that says so gives back a request without a task, and decides again then', (t) => {
  const received: RequestFacts[] = [];
  const job = run(
    machine(),
    {
      ...watching(
        ({ isFirst }) =>
          isFirst === true ? { drafts: [1, 2].map((width) => ({ width, walltime: 300, reasons: [] })) } : {},
        received,
      ),
      releasesIdle: true,
    },
    { taskTimes: [20, 50, 90], picks: { below: () => 0 } as unknown as Prng },
  );
  t.deepEqual(
    job.requests.map(({ startedAt, endedAt }) => [startedAt, endedAt]),
    [
      [10, 30],
      [10, 100],
    ],
  );
  t.true(received.some(({ now, pending }) => now === 30 && pending.length === 1));
});
