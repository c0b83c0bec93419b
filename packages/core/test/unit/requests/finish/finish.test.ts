import test from 'ava';
import {
  finishConstants,
  finishHeuristic,
  finishWith,
  type PendingRequest,
  type RequestDecision,
  type RequestFacts,
} from '@mutirao/core/requests';
import { aListing, someFacts, type ListedRequest } from '@mutirao/testkit';

const minute = 60_000;
const hour = 60 * minute;

/**
 * 64 processors, of which a local user holds 56 for 2 h; then all are held for 48 h by requests that wait. 100 tasks of
 * 20 min.
 */
function facts(change: Partial<RequestFacts> = {}, others: readonly ListedRequest[] = []): RequestFacts {
  const reservationBlock = Array.from(
    { length: 3 },
    (_, index): ListedRequest => ({
      status: 'queued',
      width: 64,
      walltime: 16 * hour,
      startsAt: (2 + 16 * index) * hour,
    }),
  );
  return someFacts({
    limits: { processors: 64, requestsMax: 1, walltimeMax: 18 * hour, widthMax: 64, walltimeGranularity: minute },
    listing: aListing(64, 0, [{ status: 'running', width: 56, walltime: 2 * hour }, ...reservationBlock, ...others]),
    demand: { pendingTasks: 30, processors: 1, deadline: undefined },
    taskTimes: { longest: 20 * minute, mean: 20 * minute, count: 50 },
    taskSpread: { shortest: 20 * minute, deviation: 0 },
    ...change,
  });
}

function shapes({ drafts }: RequestDecision): number[][] {
  return drafts.map(({ width, walltime }) => [width, walltime / minute]);
}

test('it asks for the hole in which the job ends first, no wider and no longer than the job needs', (t) => {
  // Eight lanes for 2 h do 48 tasks; 30 need four rounds, 80 min, and a margin.
  t.deepEqual(shapes(finishHeuristic.draft(facts())), [[8, 96]]);
  // Three rounds of seven do 20 tasks as fast as of eight.
  t.deepEqual(
    shapes(finishHeuristic.draft(facts({ demand: { pendingTasks: 20, processors: 1, deadline: undefined } }))),
    [[7, 72]],
  );
});

test('after a request that ended before any of its tasks, the next is longer by as much, up to the longest walltime', (t) => {
  const asked = (idleHeldTime: number): number[][] => shapes(finishHeuristic.draft(facts({ idleHeldTime })));
  t.deepEqual(asked(0), [[8, 96]]);
  t.deepEqual(asked(20 * minute), [[8, 116]]);
  t.deepEqual(asked(96 * minute), [[8, 120]]);
});

test('a job that no hole can hold waits for the large request, if that ends first', (t) => {
  const decision = finishHeuristic.draft(facts({ demand: { pendingTasks: 6400, processors: 1, deadline: undefined } }));
  t.deepEqual(shapes(decision), [[64, 1080]]);
});

test('a second request of the whole machine is expected when the first has ended, however early that is expected to start', (t) => {
  const { drafts } = finishHeuristic.draft(
    facts({
      limits: { ...facts().limits, requestsMax: 2 },
      demand: { pendingTasks: 12_800, processors: 1, deadline: undefined },
    }),
  );
  t.like(drafts[0]?.reasons[0], { startMs: 50 * hour, expectedStartMs: 30 * hour });
  t.like(drafts[1]?.reasons[0], { startMs: 68 * hour, expectedStartMs: 48 * hour });
});

test('tasks that take nearly as long as a request may be are asked for all the same, since no request loses less', (t) => {
  // 59 tasks were cut after 2 h 26 min, so that one is thought to take 4 h, and nothing may be longer than 6 h.
  const { drafts } = finishHeuristic.draft(
    facts({
      limits: { processors: 64, requestsMax: 1, walltimeMax: 6 * hour, widthMax: 64, walltimeGranularity: minute },
      listing: aListing(64, 64, []),
      demand: { pendingTasks: 59, processors: 1, deadline: undefined },
      taskTimes: { longest: 145 * minute, mean: 116 * minute, count: 41 },
      taskSpread: { shortest: 84 * minute, deviation: 17 * minute },
      cutOff: [{ count: 59, time: 146 * minute }],
    }),
  );
  t.deepEqual(
    drafts.map(({ width, walltime }) => [width, walltime / minute]),
    [[59, 360]],
  );
});

test('that holds too for a job which no request ends: it is asked for, not refused for ever', (t) => {
  // A task lasts 2 h and sometimes longer, and nothing may be longer than 3 h: whatever is asked for, a good part of it
  // is lost under the tasks that it cuts.
  const decision = finishHeuristic.draft(
    facts({
      limits: { processors: 64, requestsMax: 1, walltimeMax: 3 * hour, widthMax: 64, walltimeGranularity: minute },
      listing: aListing(64, 64, []),
      demand: { pendingTasks: 640, processors: 1, deadline: undefined },
      taskTimes: { longest: 145 * minute, mean: 116 * minute, count: 41 },
      taskSpread: { shortest: 84 * minute, deviation: 17 * minute },
    }),
  );
  t.deepEqual(shapes(decision), [[64, 180]]);
});

test('tasks of several processors get whole lanes', (t) => {
  const { drafts } = finishHeuristic.draft(facts({ demand: { pendingTasks: 4, processors: 3, deadline: undefined } }));
  t.deepEqual(
    drafts.map(({ width }) => width),
    [6],
  );
});

const waiting: PendingRequest = {
  requestId: 'q7',
  width: 30,
  walltime: 24 * minute,
  status: 'queued',
  startedAt: 0,
  submittedAt: 0,
  predictedStart: 50 * hour,
};
const behind: ListedRequest = { status: 'queued', width: 30, walltime: 24 * minute, startsAt: 50 * hour };

test('a request that waits is withdrawn for a hole that ends the job far earlier, and not where the budget is spent', (t) => {
  const decision = finishHeuristic.draft(facts({ pending: [waiting], trigger: 'queue' }, [behind]));
  t.deepEqual(
    decision.givenUp?.map(({ requestId }) => requestId),
    ['q7'],
  );
  t.deepEqual(shapes(decision), [[8, 96]]);
  const spent = finishHeuristic.draft(
    facts({ pending: [waiting], budget: { submissions: 9, withdrawals: 0 } }, [behind]),
  );
  t.deepEqual([spent.givenUp, spent.drafts], [undefined, []]);
  t.deepEqual(finishHeuristic.draft(facts({ budget: { submissions: 0, withdrawals: 9 } })).drafts, []);
});

test('a request without a promised start keeps its place, unless it is far too wide', (t) => {
  const { predictedStart: _, ...unpromised } = waiting;
  const decision = finishHeuristic.draft(facts({ pending: [unpromised], trigger: 'own' }, [behind]));
  t.deepEqual([decision.givenUp, decision.drafts], [undefined, []]);
  const wide = finishHeuristic.draft(
    facts(
      { pending: [{ ...unpromised, width: 64 }], demand: { pendingTasks: 20, processors: 1, deadline: undefined } },
      [behind],
    ),
  );
  t.deepEqual(
    wide.givenUp?.map(({ requestId }) => requestId),
    ['q7'],
  );
});

test('a promise refutes a hole that the one that waits would have had: it is not asked for again', (t) => {
  // Some rule that no listing shows keeps it out of the eight processors that are free.
  const kept: PendingRequest = { ...waiting, width: 8, walltime: 96 * minute };
  const decision = finishHeuristic.draft(
    facts({ pending: [kept], trigger: 'own' }, [{ ...behind, width: 8, walltime: 96 * minute }]),
  );
  t.deepEqual([decision.givenUp, decision.drafts], [undefined, []]);
});

test('an incomplete listing does not justify giving anything up, and the reasons say so', (t) => {
  const decision = finishHeuristic.draft(facts({ pending: [waiting], listingState: 'stale' }, [behind]));
  t.deepEqual([decision.givenUp, decision.drafts], [undefined, []]);
  t.true(decision.reasons.some(({ code }) => code === 'finish-queue-stale'));
});

const running: PendingRequest = {
  requestId: 'q7',
  width: 1,
  walltime: 18 * hour,
  status: 'running',
  startedAt: -10 * minute,
  idle: 0,
  tasks: [{ count: 1, time: 10 * minute }],
};
const one: ListedRequest = { status: 'running', width: 1, walltime: 18 * hour, startsAt: -10 * minute };

test('a small request that runs is released where a much wider one could start in its slot', (t) => {
  const decision = finishHeuristic.draft(facts({ pending: [running] }, [one]));
  t.deepEqual(
    decision.givenUp?.map(({ requestId }) => requestId),
    ['q7'],
  );
  t.is(decision.drafts[0]?.width, 8);
  t.deepEqual(finishHeuristic.draft(facts({ pending: [running], trigger: 'queue' }, [one])).givenUp, decision.givenUp);
});

test('where every task runs already nothing more is asked for, whatever is free', (t) => {
  const all: PendingRequest = { ...running, width: 5, tasks: [{ count: 5, time: 10 * minute }] };
  const differing = {
    taskTimes: { longest: 60 * minute, mean: 30 * minute, count: 50 },
    taskSpread: { shortest: 5 * minute, deviation: 15 * minute },
  };
  const decide = (pendingTasks: number): RequestDecision =>
    finishHeuristic.draft(
      facts({
        ...differing,
        pending: [all],
        limits: { ...facts().limits, requestsMax: 6 },
        demand: { pendingTasks, processors: 1, deadline: undefined },
        listing: aListing(64, 0, [{ ...one, width: 5 }]),
      }),
    );
  t.deepEqual([decide(5).givenUp, decide(5).drafts], [undefined, []]);
  t.is(decide(9).drafts[0]?.width, 4);
});

test('the request for the tasks that another one will cut is submitted while they still run', (t) => {
  // Five tasks have run for 100 min, may take 200, and have 60 more; then somebody else has their processors, and 8
  // others are free in 110 min.
  const ending: PendingRequest = {
    ...running,
    width: 5,
    walltime: 160 * minute,
    startedAt: -100 * minute,
    tasks: [{ count: 5, time: 100 * minute }],
  };
  const differing = {
    taskTimes: { longest: 200 * minute, mean: 100 * minute, count: 50 },
    taskSpread: { shortest: 5 * minute, deviation: 57 * minute },
    demand: { pendingTasks: 5, processors: 1, deadline: undefined },
  };
  const others: ListedRequest[] = [
    { status: 'running', width: 51, walltime: 40 * hour },
    { status: 'running', width: 8, walltime: 110 * minute },
    { status: 'queued', width: 5, walltime: 40 * hour, startsAt: hour },
  ];
  const decide = (walltime: number): RequestDecision =>
    finishHeuristic.draft(
      facts({
        ...differing,
        pending: [{ ...ending, walltime }],
        listing: aListing(64, 0, [{ status: 'running', width: 5, walltime, startsAt: -100 * minute }, ...others]),
        limits: { ...facts().limits, requestsMax: 3 },
      }),
    );
  t.deepEqual(
    decide(160 * minute).drafts.map(({ width, walltime }) => width <= 5 && walltime >= 200 * minute),
    [true],
  );
  t.deepEqual(decide(18 * hour).drafts, []);
});

test('where tasks differ much no request is asked for that would lose a third of its time under tasks that it cuts', (t) => {
  // 64 processors are free for 100 min between two long requests, then for ever; tasks take 60 min, give or take 45,
  // and there are thousands.
  const differing = {
    taskTimes: { longest: 105 * minute, mean: 60 * minute, count: 900 },
    taskSpread: { shortest: 15 * minute, deviation: 26 * minute },
    demand: { pendingTasks: 6400, processors: 1, deadline: undefined },
  };
  const listing = aListing(64, 0, [{ status: 'queued', width: 64, walltime: 2 * hour, startsAt: 100 * minute }]);
  t.deepEqual(shapes(finishHeuristic.draft(facts({ ...differing, listing }))), [[64, 1080]]);
  t.deepEqual(
    shapes(
      finishHeuristic.draft(
        facts({ ...differing, listing, demand: { pendingTasks: 20, processors: 1, deadline: undefined } }),
      ),
    ).map(([width]) => width),
    [20],
  );
});

test('a request that waits for far more processors than tasks are left gives way to a narrower one', (t) => {
  const wide: PendingRequest = { ...waiting, width: 64 };
  const left = facts({ pending: [wide], demand: { pendingTasks: 50, processors: 1, deadline: undefined } }, [
    { ...behind, width: 64 },
  ]);
  const decision = finishHeuristic.draft({
    ...left,
    listing: aListing(64, 0, [
      { status: 'running', width: 64, walltime: 50 * hour },
      { ...behind, width: 64 },
    ]),
  });
  t.deepEqual(
    decision.givenUp?.map(({ requestId }) => requestId),
    ['q7'],
  );
  t.is(decision.drafts[0]?.width, 50);
  t.deepEqual(decision.givenUp?.[0]?.reasons[0], {
    code: 'finish-withdrawn-too-wide',
    processors: 64,
    pendingTasks: 50,
  });
  t.like(decision.givenUp?.[0]?.reasons[1], { code: 'finish-replaced-by', processors: 50 });
  const fitting = finishHeuristic.draft({
    ...left,
    demand: { ...left.demand, pendingTasks: 60 },
    listing: aListing(64, 0, [
      { status: 'running', width: 64, walltime: 50 * hour },
      { ...behind, width: 64 },
    ]),
  });
  t.deepEqual([fitting.givenUp, fitting.drafts], [undefined, []]);
});

test('it keeps its place if the narrower one would come far later, unless places stay where they were promised', (t) => {
  // All are held for 10 h; then it starts, and behind it somebody has all for 16 h.
  const wide: PendingRequest = {
    ...waiting,
    width: 64,
    submittedAt: -hour,
    promisedStart: 11 * hour,
    predictedStart: 10 * hour,
  };
  const listing = aListing(64, 0, [
    { status: 'running', width: 64, walltime: 10 * hour },
    { status: 'queued', width: 64, walltime: 24 * minute, startsAt: 10 * hour },
    { status: 'queued', width: 64, walltime: 16 * hour, startsAt: 10 * hour + 24 * minute },
  ]);
  const decide = (one: PendingRequest): RequestDecision =>
    finishHeuristic.draft(
      facts({
        pending: [one],
        trigger: 'own',
        listing,
        demand: { pendingTasks: 40, processors: 1, deadline: undefined },
      }),
    );
  t.deepEqual([decide(wide).givenUp, decide(wide).drafts], [undefined, []]);
  const kept = decide({ ...wide, promisedStart: 10 * hour });
  t.deepEqual([kept.givenUp?.map(({ requestId }) => requestId), kept.drafts.map(({ width }) => width)], [['q7'], [40]]);
});

test('where tasks differ something waits for those that the last request may leave, should they take longer than was learnt', (t) => {
  // 50 lanes have 3 h for 120 tasks of half an hour to one and a half: by the mean they do 120.
  const last: PendingRequest = { ...running, width: 50, walltime: 3 * hour, startedAt: 0, idle: 50, tasks: [] };
  const listing = aListing(64, 0, [
    { status: 'running', width: 50, walltime: 3 * hour },
    { status: 'running', width: 14, walltime: 20 * hour },
    { status: 'queued', width: 64, walltime: 16 * hour, startsAt: 20 * hour },
  ]);
  const differing = {
    taskTimes: { longest: 90 * minute, mean: 60 * minute, count: 900 },
    taskSpread: { shortest: 30 * minute, deviation: 17 * minute },
  };
  const decide = (timeDoubt: number): RequestDecision =>
    finishWith({ ...finishConstants, timeDoubt }).draft(
      facts({
        ...differing,
        pending: [last],
        limits: { ...facts().limits, requestsMax: 2 },
        listing,
        demand: { pendingTasks: 120, processors: 1, deadline: undefined },
      }),
    );
  t.deepEqual([decide(0).drafts.length, decide(0.1).drafts.length], [0, 1]);
});

test('one that is too wide gives way as long as the job takes little longer, and keeps its place where it would take much', (t) => {
  // All are held for 5 h, then it starts; a narrower one could start when somebody else is done, or has to wait for his
  // walltime.
  const decide = (after: number): RequestDecision =>
    finishHeuristic.draft(
      facts({
        pending: [{ ...waiting, width: 64, predictedStart: 5 * hour }],
        trigger: 'own',
        demand: { pendingTasks: 40, processors: 1, deadline: undefined },
        waits: Array.from({ length: 50 }, () => ({ width: 1, walltime: 1, promised: hour, actual: hour })),
        listing: aListing(64, 0, [
          { status: 'running', width: 64, walltime: 5 * hour },
          { status: 'queued', width: 64, walltime: 24 * minute, startsAt: 5 * hour },
          { status: 'queued', width: 64, walltime: after, startsAt: 5 * hour + 24 * minute },
        ]),
      }),
    );
  // It ends in 5 h 20 min with it, and 24 min and as long as somebody holds all later without.
  t.deepEqual(
    [20, 24, 36, 60].map((minutes) => decide(minutes * minute).givenUp?.length ?? 0),
    [1, 1, 0, 0],
  );
});

test('it is kept where the job is over almost as soon with it', (t) => {
  const decision = finishHeuristic.draft(
    facts({ pending: [running], demand: { pendingTasks: 1, processors: 1, deadline: undefined } }, [one]),
  );
  t.deepEqual([decision.givenUp, decision.drafts], [undefined, []]);
});

test('with every slot taken and nothing free an event of the queue costs no thought', (t) => {
  const full = facts({
    pending: [waiting],
    trigger: 'queue',
    listing: aListing(64, 0, [{ status: 'running', width: 64, walltime: 2 * hour }]),
  });
  t.deepEqual(finishHeuristic.draft(full), {
    drafts: [],
    reasons: [{ code: 'request-slots-taken-nothing-free', slots: 1 }],
  });
});

test('further slots stay free where they would bring the end forward by little', (t) => {
  const free = facts({ limits: { ...facts().limits, requestsMax: 6 }, listing: aListing(64, 0, []) });
  t.deepEqual(shapes(finishHeuristic.draft(free)), [[30, 24]]);
});

test('while no task has ended a running request is reviewed when it has run half as long again', (t) => {
  const unknown = { taskTimes: undefined, taskSpread: undefined };
  t.is(finishHeuristic.draft(facts({ ...unknown, pending: [running] }, [one])).reviewAt, 5 * minute);
  t.is(finishHeuristic.draft(facts({ ...unknown, pending: [waiting] }, [behind])).reviewAt, undefined);
  t.is(finishHeuristic.draft(facts({ pending: [running] }, [one])).reviewAt, undefined);
});

test('at the end of the first of several tasks it waits for a moment: the others, which have run for as long, may end or may not', (t) => {
  const first = {
    taskTimes: { longest: 5 * minute, mean: 5 * minute, count: 1 },
    taskSpread: { shortest: 5 * minute, deviation: 0 },
  };
  const at = (time: number): RequestDecision =>
    finishHeuristic.draft(
      facts(
        {
          ...first,
          now: time,
          limits: { ...facts().limits, requestsMax: 2 },
          pending: [{ ...running, tasks: [{ count: 7, time }] }],
        },
        [one],
      ),
    );
  t.deepEqual(at(5 * minute), {
    drafts: [],
    reasons: [{ code: 'finish-waits-for-similar-tasks', waitMs: 6001 }],
    reviewAt: 5 * minute + 6001,
  });
  const later = at(5 * minute + 6001);
  t.true(later.drafts.length > 0);
  // Of one of eight that has ended, the shortest, the mean is not five minutes.
  t.true((later.taskTimeEstimate ?? 0) > 10 * minute, String(later.taskTimeEstimate));
});

test('where very many tasks have outlasted every time that fits, they are taken to last as long as any may', (t) => {
  const many = Array.from(
    { length: 1000 },
    (_, index): PendingRequest => ({
      ...running,
      requestId: `q${index}`,
      startedAt: -12 * hour,
      tasks: [{ count: 1, time: 12 * hour }],
    }),
  );
  const decision = finishHeuristic.draft(
    facts({
      taskTimes: undefined,
      taskSpread: undefined,
      pending: many,
      trigger: 'own',
      limits: { ...facts().limits, processors: 1064, requestsMax: 1002 },
      listing: aListing(1064, 64, [{ status: 'running', width: 1000, walltime: 6 * hour }]),
      demand: { pendingTasks: 1100, processors: 1, deadline: undefined },
    }),
  );
  t.is(decision.taskTimeEstimate, Math.ceil((18 * hour * 4) / 7));
  t.true(decision.drafts.length > 0);
});

test('before anything was observed it probes with what starts now and lets a larger one wait', (t) => {
  const { drafts } = finishHeuristic.draft(
    facts({
      taskTimes: undefined,
      taskSpread: undefined,
      limits: { ...facts().limits, requestsMax: 2 },
      demand: { pendingTasks: 100, processors: 1, deadline: undefined },
    }),
  );
  t.is(drafts[0]?.width, 8);
});

test('of tasks on several machines the decision counts processors, not tasks', (t) => {
  const given = facts();
  const { reasons } = finishHeuristic.draft({ ...given, demand: { ...given.demand, gangProcessors: 30 } });
  t.like(reasons[0], { code: 'finish-expected-end', pendingTasks: 30, gangProcessors: 30 });
});

test('its decision says when the job ends, why each request, and what was compared', (t) => {
  const decision = finishHeuristic.draft(facts());
  t.deepEqual(decision.reasons, [
    { code: 'finish-expected-end', pendingTasks: 30, endMs: 80 * minute, taskMs: 20 * minute },
    { code: 'task-time-learnt', taskMs: 20 * minute, completedTasks: 50, longerRunningTasks: 0 },
  ]);
  t.deepEqual(decision.drafts[0]?.reasons[0], {
    code: 'finish-earliest-completion',
    processors: 8,
    walltimeMs: 96 * minute,
    startMs: 0,
    expectedStartMs: 0,
  });
  t.deepEqual(
    decision.candidates?.map(({ width, chosen }) => [width, chosen]),
    [[8, true]],
  );
  t.is(decision.taskTimeEstimate, 20 * minute);
});
