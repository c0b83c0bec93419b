import test from 'ava';
import { conservativeBackfilling, replayRequests } from '@mutirao/core/queue';
import {
  adaptiveHeuristic,
  estimateTaskTime,
  heuristicDefaults,
  initialHeuristic,
  mixedHeuristic,
  staticHeuristic,
  getWaste,
  type HeuristicOptions,
  type RequestDecision,
  type RequestFacts,
} from '@mutirao/core/requests';
import { aListing, aServed, someFacts, type ListedRequest } from '@mutirao/testkit';
import { chooseRequests } from '../../src/requests/choose-requests.ts';
import type { Candidate } from '../../src/requests/throughput.ts';

/**
 * 8 processors and E = 10. Until 30, 4 are held; then all 8 for `then`. So: 4 free in [0, 30), none until 30 + `then`.
 */
function behindABlock(
  then: number,
  change: Partial<RequestFacts> = {},
  options: Partial<HeuristicOptions> = {},
): RequestFacts {
  const queue: ListedRequest[] = [
    { status: 'running', width: 4, walltime: 30 },
    { status: 'queued', width: 8, walltime: then, startsAt: 30 },
  ];
  return someFacts({
    listing: aListing(8, 0, queue),
    options: { ...heuristicDefaults, defaultTime: 10, ...options },
    ...change,
  });
}

const limits = someFacts().limits;
const many = { pendingTasks: 1000, processors: 1, deadline: undefined };
const listShapes = ({ drafts }: RequestDecision): [number, number][] =>
  drafts.map(({ width, walltime }) => [width, walltime]);
const getCandidates = ({ candidates = [] }: RequestDecision): [width: number, walltime: number, startsAt: number][] =>
  candidates.map(({ width, walltime, startsAt }) => [width, walltime, startsAt]);
const byStart = (rows: [number, number, number][]): [number, number, number][] =>
  rows.sort((one, other) => one[2] - other[2] || other[0] - one[0]);

test('2.2.1, Figure 2.2: requests 6 and 7, submitted later, start before request 4 without any delay', (t) => {
  // 64 processors at t; then, at u = 10, the two small ones arrive.
  const trace = [
    { submittedAt: 0, width: 32, walltime: 100, runTime: 100 },
    { submittedAt: 0, width: 16, walltime: 60, runTime: 60 },
    { submittedAt: 1, width: 8, walltime: 40, runTime: 40 },
    { submittedAt: 2, width: 48, walltime: 50, runTime: 50 },
    { submittedAt: 3, width: 64, walltime: 50, runTime: 50 },
    { submittedAt: 10, width: 8, walltime: 90, runTime: 90 },
    { submittedAt: 10, width: 8, walltime: 30, runTime: 30 },
  ];
  const starts = (count: number): number[] =>
    replayRequests(conservativeBackfilling('start-now'), 64, trace.slice(0, count)).map(({ startedAt }) => startedAt);
  t.deepEqual(starts(5), [0, 0, 1, 100, 150]);
  t.deepEqual(starts(7), [0, 0, 1, 100, 150, 10, 41]);
});

test('Alg. 3.2: at the first decision E is DEFAULT_TIME, 600 s', (t) => {
  t.is(estimateTaskTime(someFacts({ limits: { ...limits, walltimeMax: 64_800_000 } })).time, 600_000);
});

test('Alg. 3.2: after completed tasks E is 1.1 x the longest', (t) => {
  const { time, reason } = estimateTaskTime(
    someFacts({ taskTimes: { longest: 50, mean: 20, count: 3 }, served: [aServed(1, 0, 60, 55)] }),
  );
  t.is(time, 55);
  t.deepEqual(reason, {
    code: 'task-time-from-longest-here',
    taskMs: 55,
    longestMs: 50,
    completedTasks: 3,
    isCut: false,
  });
});

test('Alg. 3.2: after a request too short for a task E is twice as much', (t) => {
  const { time, reason } = estimateTaskTime(someFacts({ served: [aServed(4, 100, 120, 0)] }));
  t.is(time, 40);
  t.deepEqual(reason, { code: 'task-time-from-idle-requests', taskMs: 40, idleMs: 20, isCut: false });
});

test('Alg. 3.2: E is the larger of the two, over all own requests that were served', (t) => {
  const taskTimes = { longest: 20, mean: 20, count: 1 };
  t.is(estimateTaskTime(someFacts({ taskTimes, served: [aServed(1, 0, 30, 20), aServed(1, 40, 65, 0)] })).time, 50);
  t.is(estimateTaskTime(someFacts({ taskTimes, served: [aServed(1, 0, 30, 20)] })).time, 22);
});

test('Alg. 3.2, settled: a request that completed more than it held does not make est2 negative, and est2 is at most maxT_r', (t) => {
  t.is(
    estimateTaskTime(someFacts({ taskTimes: { longest: 10, mean: 10, count: 9 }, served: [aServed(9, 0, 10, 90)] }))
      .time,
    11,
  );
  t.is(estimateTaskTime(someFacts({ served: [aServed(1, 0, 90, 0)] })).time, 100);
  // Not of the source: what tasks took elsewhere stands in until one has ended here.
  const elsewhere = { count: 7, censoredCount: 1, median: 5, ninetieth: 20, ninetyNinth: 40 };
  const { time, reason } = estimateTaskTime(someFacts({ taskTimesElsewhere: elsewhere }));
  t.is(time, 44);
  t.like(reason, { code: 'task-time-from-elsewhere', longestMs: 40, completedTasks: 7 });
  t.is(
    estimateTaskTime(someFacts({ taskTimesElsewhere: elsewhere, taskTimes: { longest: 10, mean: 10, count: 1 } })).time,
    11,
  );
  t.is(estimateTaskTime(someFacts({ taskTimesElsewhere: { ...elsewhere, ninetyNinth: undefined } })).time, 100);
});

test('3.3.3, settled: the first completions are the shortest tasks, so that E from them is biased low', (t) => {
  // Tasks of 10, 20, ... 80 on 8 processors: at each moment only those that are short have ended.
  const times = [10, 20, 30, 40, 50, 60, 70, 80];
  const estimateAt = (now: number): number => {
    const ended = times.filter((time) => time <= now);
    return estimateTaskTime(someFacts({ taskTimes: { longest: Math.max(...ended), mean: 1, count: ended.length } }))
      .time;
  };
  t.deepEqual([10, 40, 80].map(estimateAt), [11, 44, 88]);
});

test('Eq. 3.3, settled: a request counts its whole tasks of the estimated time, until the last end, from now', (t) => {
  // 8 processors for 100 behind the wall at 80: 10 rounds of 8 tasks within 180.
  const { candidates = [] } = adaptiveHeuristic.draft(behindABlock(50));
  t.is(candidates.find(({ startsAt }) => startsAt === 80)?.throughput, (80 / 180) * 3_600_000);
  // With E = 30 a walltime of 100 has room for 3 whole tasks, not for 3.33.
  const longer = adaptiveHeuristic.draft(behindABlock(50, {}, { defaultTime: 30 }));
  t.is(longer.candidates?.find(({ startsAt }) => startsAt === 80)?.throughput, (24 / 180) * 3_600_000);
  // The same queue a second later makes the same throughput and the same choice.
  const sooner = behindABlock(150, { limits: { ...limits, requestsMax: 1 }, demand: many });
  const shifted = sooner.listing.requests.map((request) => ({ ...request, startsAt: request.startsAt + 1000 }));
  const [now, later] = [sooner, { ...sooner, now: 1000, listing: { ...sooner.listing, requests: shifted } }].map(
    (facts) => adaptiveHeuristic.draft(facts),
  );
  t.deepEqual(
    later?.candidates?.map(({ throughput }) => throughput),
    now?.candidates?.map(({ throughput }) => throughput),
  );
  t.deepEqual(
    later?.drafts.map(({ width }) => width),
    [4],
  );
});

test('3.3.3: the candidates are what fills the holes of the queue, and maxPR of the largest area behind its end', (t) => {
  t.deepEqual(byStart(getCandidates(adaptiveHeuristic.draft(behindABlock(50)))), [
    [4, 30, 0],
    [8, 100, 80],
    [8, 100, 180],
  ]);
});

test('3.3.3: behind the end the largest requests are side by side if the resource is wide enough', (t) => {
  const facts = behindABlock(50, { limits: { ...limits, requestsMax: 3, widthMax: 4 } });
  t.deepEqual(byStart(getCandidates(adaptiveHeuristic.draft(facts))), [
    [4, 30, 0],
    [4, 100, 80],
    [4, 100, 80],
    [4, 100, 180],
  ]);
});

test('3.3.3: on an idle resource there is no queue, and all candidates are of the largest area', (t) => {
  t.deepEqual(listShapes(adaptiveHeuristic.draft(someFacts({ demand: many }))), [
    [8, 100],
    [8, 100],
  ]);
});

/** 2 free in [0, 10), 6 in [10, 40), none in [40, 60). */
function twoStairs(options: Partial<HeuristicOptions>): RequestFacts {
  const queue: ListedRequest[] = [
    { status: 'running', width: 4, walltime: 10 },
    { status: 'running', width: 2, walltime: 40 },
    { status: 'queued', width: 8, walltime: 20, startsAt: 40 },
  ];
  return someFacts({ listing: aListing(8, 0, queue), options: { ...heuristicDefaults, defaultTime: 10, ...options } });
}
const listHoles = (facts: RequestFacts): [number, number, number][] =>
  byStart(getCandidates(adaptiveHeuristic.draft(facts)).filter(([, , startsAt]) => startsAt < 60));

test('3.3.3, settled: at each breakpoint in order of time the best rectangle is taken out before going on', (t) => {
  // At 0: 2 x 40 (the one choice). What is left at 10 is 4 x 30.
  t.deepEqual(listHoles(twoStairs({ holes: 'in-order' })), [
    [2, 40, 0],
    [4, 30, 10],
  ]);
});

test('3.3.3, a variant: the best rectangle of all is taken out first', (t) => {
  // 6 x 30 at 10 has 18 tasks within 40; 2 x 40 at 0 only 8.
  t.deepEqual(listHoles(twoStairs({ holes: 'best-first' })), [
    [2, 10, 0],
    [6, 30, 10],
  ]);
});

test('3.3.3, a variant: every maximal rectangle is a candidate', (t) => {
  t.deepEqual(listHoles(twoStairs({ holes: 'maximal' })), [
    [2, 40, 0],
    [6, 30, 10],
  ]);
});

test('3.3.3, a variant: a rectangle that could start earlier is not maximal', (t) => {
  // 2 free in [0, 10), 6 in [10, 20), 2 in [20, 40): what is 2 wide at 10 is a part of 2 x 40 at 0.
  const queue: ListedRequest[] = [
    { status: 'running', width: 4, walltime: 10 },
    { status: 'running', width: 2, walltime: 40 },
    { status: 'queued', width: 4, walltime: 20, startsAt: 20 },
    { status: 'queued', width: 8, walltime: 20, startsAt: 40 },
  ];
  t.deepEqual(listHoles({ ...twoStairs({ holes: 'maximal' }), listing: aListing(8, 0, queue) }), [
    [2, 40, 0],
    [6, 10, 10],
  ]);
});

test('3.3.3: a hole shorter than E is none, and a request for a hole is of whole tasks or of all of it', (t) => {
  t.deepEqual(listHoles(twoStairs({ defaultTime: 12 })), [
    [2, 36, 0],
    [4, 24, 10],
  ]);
  t.deepEqual(listHoles(twoStairs({ defaultTime: 12, holeWalltime: 'whole-hole' })), [
    [2, 40, 0],
    [4, 30, 10],
  ]);
  t.deepEqual(listHoles(twoStairs({ defaultTime: 35 })), [[2, 35, 0]]);
});

test('Alg. 3.3: a candidate takes the place of a chosen one when that raises V', (t) => {
  // Alone, 4 x 30 now is V = 12/30; 8 x 100 behind a wall until 80 is 80/180, more; until 180 it is 80/280, less.
  const alone = { limits: { ...limits, requestsMax: 1 }, demand: many };
  const swapped = adaptiveHeuristic.draft(behindABlock(50, alone));
  t.deepEqual(listShapes(swapped), [[8, 100]]);
  t.like(swapped.drafts[0]?.reasons[1], {
    code: 'adaptive-exchanged',
    processors: 4,
    walltimeMs: 30,
    startMs: 0,
    place: 'gap',
  });
  t.deepEqual(listShapes(adaptiveHeuristic.draft(behindABlock(150, alone))), [[4, 30]]);
});

test('Alg. 3.3: of the chosen requests a candidate replaces the one for which V rises most, or by an option the first for which it rises', (t) => {
  const candidate = (tasks: number, startsAt: number, walltime: number): Candidate => ({
    width: 8,
    lanes: 8,
    origin: 'hole',
    tasks,
    startsAt,
    walltime,
  });
  const [late, soon, wide] = [candidate(8, 100, 100), candidate(30, 10, 30), candidate(32, 0, 30)];
  const starts = (exchange: 'best' | 'first', candidates: readonly Candidate[]): number[] =>
    chooseRequests(candidates, 2, { now: 0, exchange }).map(({ candidate: { startsAt } }) => startsAt);
  // 30 until 40 and 8 until 200: V = 38/200. 32 until 30 for the first: 40/200, more; for the second: 62/40, far more.
  t.deepEqual(starts('best', [soon, late, wide]), [10, 0]);
  t.deepEqual(starts('first', [soon, late, wide]), [0, 100]);
  t.is(heuristicDefaults.exchange, 'best');
});

test('Alg. 3.3, settled: no candidate is taken twice', (t) => {
  // 2 x 40 at 0 (8 tasks) and 4 x 30 at 10 (12): V = 20/40. 8 x 100 at 60 (80 tasks) for the first: 92/160, more. As
  // printed the inner
  // loop goes on and takes it for the second one, too: 160/160. Instead 8 x 100 at 160 does: 160/260, more than 92/160.
  const { candidates = [] } = adaptiveHeuristic.draft({ ...twoStairs({}), demand: many });
  t.deepEqual(
    candidates.filter(({ chosen }) => chosen).map(({ startsAt }) => startsAt),
    [60, 160],
  );
});

test('Alg. 3.3: fewer pending tasks than processors narrow every chosen request by fr, to 1 at least', (t) => {
  const chosen = (pendingTasks: number): [number, number][] =>
    listShapes(
      adaptiveHeuristic.draft(
        behindABlock(150, { demand: { ...many, pendingTasks }, limits: { ...limits, requestsMax: 1 } }),
      ),
    );
  t.deepEqual([4, 3, 1].map(chosen), [[[4, 30]], [[3, 30]], [[1, 30]]]);
  // Two of 8 for 10 tasks: fr = 10/16, ceil(8 x 10/16) = 5.
  t.deepEqual(listShapes(adaptiveHeuristic.draft(behindABlock(50))), [
    [5, 100],
    [5, 100],
  ]);
});

test('Alg. 3.3: pending requests hold their slots', (t) => {
  const pending = { requestId: 'q1', width: 1, walltime: 10, status: 'running', startedAt: 0 } as const;
  t.is(adaptiveHeuristic.draft(behindABlock(50, { pending: [pending] })).drafts.length, 1);
  t.deepEqual(adaptiveHeuristic.draft(behindABlock(50, { pending: [pending, pending] })).drafts, []);
});

test('Alg. 3.4: the first decision adds one of the largest area, which is never narrowed', (t) => {
  const facts = behindABlock(150, { demand: { ...many, pendingTasks: 2 } });
  t.deepEqual(listShapes(mixedHeuristic.draft(facts)), [
    [2, 30],
    [8, 100],
  ]);
  t.deepEqual(
    listShapes(
      mixedHeuristic.draft(
        behindABlock(50, { limits: { ...limits, requestsMax: 1 }, demand: { ...many, pendingTasks: 1 } }),
      ),
    ),
    [[8, 100]],
  );
});

test('Alg. 3.4: the scaling of the others does not count the one of the largest area', (t) => {
  // 4 pending tasks are no fewer than the 4 processors of the one adaptive request.
  t.deepEqual(listShapes(mixedHeuristic.draft(behindABlock(150, { demand: { ...many, pendingTasks: 4 } }))), [
    [4, 30],
    [8, 100],
  ]);
});

test('Alg. 3.4: later decisions are adaptive', (t) => {
  const later = behindABlock(150, {
    served: [aServed(1, -20, -10, 10)],
    taskTimes: { longest: 10, mean: 10, count: 1 },
    now: 0,
  });
  t.deepEqual(mixedHeuristic.draft(later), adaptiveHeuristic.draft(later));
  t.deepEqual(
    mixedHeuristic.draft({ ...behindABlock(150), isFirst: false }),
    adaptiveHeuristic.draft(behindABlock(150)),
  );
});

test('3.3.2: the free processors now give the widest request without a wait, for longer than E if that costs none', (t) => {
  t.deepEqual(listShapes(initialHeuristic.draft(behindABlock(50, { limits: { ...limits, requestsMax: 1 } }))), [
    [4, 30],
  ]);
});

test('Eq. 3.2: otherwise p = maxP / |R^w| and the walltime is E, DEFAULT_TIME at first', (t) => {
  const reservationBlock = (waiting: number): RequestFacts =>
    someFacts({
      limits: { ...limits, requestsMax: 1 },
      demand: many,
      options: { ...heuristicDefaults, defaultTime: 10 },
      listing: aListing(8, 0, [
        { status: 'running', width: 8, walltime: 30 },
        ...Array.from({ length: waiting }, (): ListedRequest => ({ status: 'queued', width: 8, walltime: 10 })),
      ]),
    });
  t.deepEqual(
    [0, 1, 2, 3, 8, 20].map((waiting) => listShapes(initialHeuristic.draft(reservationBlock(waiting)))[0]),
    [
      [8, 10],
      [8, 10],
      [4, 10],
      [2, 10],
      [1, 10],
      [1, 10],
    ],
  );
});

test('Eq. 3.4: waste is what the requests held less the time of the tasks they completed', (t) => {
  t.is(
    getWaste(
      [
        { width: 4, startedAt: 0, endedAt: 30 },
        { width: 1, startedAt: 40, endedAt: 50 },
      ],
      100,
    ),
    30,
  );
});

test('3.3.1 and 3.3.3: at low load the adaptive request starts at once and the static one does not', (t) => {
  const facts = behindABlock(150, { limits: { ...limits, requestsMax: 1 } });
  t.deepEqual(listShapes(adaptiveHeuristic.draft(facts)), [[4, 30]]);
  t.deepEqual(listShapes(staticHeuristic.draft(facts)), [[8, 100]]);
});
