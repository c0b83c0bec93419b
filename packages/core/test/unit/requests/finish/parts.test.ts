import test from 'ava';
import { FreeTime } from '@mutirao/core/profile';
import { finishConstants, type PendingRequest, type RequestFacts, type TaskGroup } from '@mutirao/core/requests';
import {
  countDone,
  doneInLane,
  drainTime,
  isDrained,
  never,
  startBeside,
  useLanes,
  type Bag,
  type Lanes,
  type Workers,
} from '../../../../src/requests/finish/draining.ts';
import { lookLater } from '../../../../src/requests/finish/later.ts';
import { likenessShownAt } from '../../../../src/requests/finish/learn.ts';
import { logarithm } from '../../../../src/requests/finish/logarithm.ts';
import { lookAtTasks } from '../../../../src/requests/finish/look-at-tasks.ts';
import type { Estimate } from '../../../../src/requests/finish/estimate.ts';
import { keepsPlaces, viewOwn, estimateWaitShare } from '../../../../src/requests/finish/own-requests.ts';
import { Skyline } from '../../../../src/requests/finish/skyline.ts';
import { someFacts } from '@mutirao/testkit';

const nothingLater = { pause: 0, rate: 0 };

function someWorkers(change: Partial<Workers>): Workers {
  return { lanes: [], slotEnds: [], waiting: 0, restarted: [], ...change };
}

test('the logarithm is that of Math to nine digits, from a millisecond to thirty years', (t) => {
  for (let value = 1e-6; value < 1e13; value *= 1.37)
    t.true(Math.abs(logarithm(value) - Math.log(value)) < 1e-8 * Math.max(1, Math.abs(Math.log(value))), String(value));
  t.is(logarithm(1), 0);
});

test('lanes do whole tasks until their request ends; tasks in progress are done the earlier the longer they have run', (t) => {
  const bag: Bag = { tasks: 7, time: 10_000, later: nothingLater };
  const workers = someWorkers({
    lanes: [
      { count: 2, from: 0, age: 4000, end: 30_000 },
      { count: 1, from: 5000, age: 0, end: 29_000 },
    ],
  });
  // Eight could be done in the end, and there are seven.
  t.deepEqual(
    [5999, 6000, 15_000, 16_000, 26_000, 90_000].map((at) => countDone(at, workers, bag)),
    [0, 2, 3, 5, 7, 7],
  );
  t.deepEqual([isDrained(25_000, workers, bag), isDrained(26_000, workers, bag)], [false, true]);
  t.true(Math.abs(drainTime(workers, bag) - 26_000) <= 1000);
});

test('a task that runs longer than tasks take needs an eighth of a task more', (t) => {
  const workers = someWorkers({ lanes: [{ count: 1, from: 0, age: 90_000, end: 30_000 }] });
  t.deepEqual(
    [1249, 1250].map((at) => countDone(at, workers, { tasks: 1, time: 10_000, later: nothingLater })),
    [0, 1],
  );
});

test('after its request a slot brings tasks at a rate, after a pause; what nothing can do is never done', (t) => {
  const bag: Bag = { tasks: 10, time: 1000, later: { pause: 60_000, rate: 1 / 1000 } };
  t.true(Math.abs(drainTime(someWorkers({ slotEnds: [100_000] }), bag) - 170_000) <= 1000);
  t.is(drainTime(someWorkers({}), bag), never);
});

/** Free: 2 until 10, 5 until 30, 0 until 50, then all 8. */
const skyline = Skyline.of(new FreeTime([100, 110, 130, 150], [2, 5, 0, 8]));

function listHoles(of: Skyline, until = Infinity, unit = 1): number[][] {
  const holes: number[][] = [];
  of.visitHoles({ unit, widthMax: 8, extentMax: 100, until: () => until }, ({ start, width, extent }) => {
    holes.push([start, width, extent]);
  });
  return holes;
}

test('the holes of a skyline are those that cannot begin earlier, last longer or be wider, from now on', (t) => {
  t.deepEqual(listHoles(skyline), [
    [0, 2, 30],
    [10, 5, 20],
    [50, 8, 100],
  ]);
  t.deepEqual(listHoles(skyline, 10), [
    [0, 2, 30],
    [10, 5, 20],
  ]);
  t.deepEqual(listHoles(skyline, Infinity, 3), [
    [10, 3, 20],
    [50, 6, 100],
  ]);
});

test('a part that is taken from a skyline and given back leaves it unchanged, and a taken part is not free', (t) => {
  const taken = skyline.without(12, 40, 5);
  t.deepEqual(listHoles(taken), [
    [0, 2, 12],
    [10, 5, 2],
    [50, 8, 100],
  ]);
  t.deepEqual(listHoles(skyline.without(12, 20, 5).with([{ start: 12, end: 20, width: 5 }])), listHoles(skyline));
  t.deepEqual(
    [skyline.findEarliest(2, 30), skyline.findEarliest(3, 20), skyline.findEarliest(3, 21), skyline.findEarliest(9, 1)],
    [0, 10, 50, 50],
  );
});

test('before anything was observed every time that fits is thought possible; running tasks make what they outlasted unlikely', (t) => {
  const limits = { processors: 8, requestsMax: 2, walltimeMax: 189_000, widthMax: 8, walltimeGranularity: 1000 };
  const before = lookAtTasks(someFacts({ limits }), finishConstants);
  t.deepEqual(
    before.times.map(({ time }) => time),
    [12_000, 36_000, 108_000],
  );
  const runs = {
    requestId: 'q1',
    width: 1,
    walltime: 300_000,
    status: 'running',
    startedAt: 0,
    tasks: [{ count: 4, time: 50_000 }],
  } as const;
  const after = lookAtTasks(someFacts({ limits, pending: [runs] }), finishConstants);
  t.deepEqual(
    after.times.map(({ time }) => time),
    [36_000, 108_000],
  );
  t.like(after.reason, { code: 'task-time-outlasted', outlastedMs: 50_000 });
});

test('no time is thought possible that would not fit, and no walltime is too short to think', (t) => {
  const limits = { processors: 8, requestsMax: 2, walltimeMax: 0, widthMax: 8, walltimeGranularity: 1000 };
  t.deepEqual(
    lookAtTasks(someFacts({ limits }), finishConstants).times.map(({ time }) => time),
    [1],
  );
  const elsewhere = { count: 9, censoredCount: 0, median: 900_000, ninetieth: undefined, ninetyNinth: 990_000 };
  const short = lookAtTasks(
    someFacts({ limits: { ...limits, walltimeMax: 60_500 }, taskTimesElsewhere: elsewhere }),
    finishConstants,
  );
  t.deepEqual([short.times, short.longest], [[{ time: 60_000, weight: 1 }], 16.5]);
});

test('completed tasks show how long tasks take, and those that have outlasted one are not forgotten', (t) => {
  const runs = {
    requestId: 'q1',
    width: 1,
    walltime: 300,
    status: 'running',
    startedAt: 0,
    tasks: [
      { count: 2, time: 40 },
      { count: 5, time: 5 },
    ],
  } as const;
  const demand = { pendingTasks: 8, processors: 1, deadline: undefined };
  const estimate = lookAtTasks(
    someFacts({
      demand,
      pending: [runs],
      cutOff: [{ count: 1, time: 10 }],
      taskTimes: { longest: 20, mean: 10, count: 2 },
      taskSpread: { shortest: 5, deviation: 8 },
    }),
    finishConstants,
  );
  // Three outlast the shortest, 5: L - 5 = (2 * 2 * 5 + 90 - 15 + 2 * 30) / (2 + 2), but one has run for 40; what is
  // left takes m with 20 + 8 m = 10 (5 + L) / 2.
  const longest = 5 + 155 / 4;
  const left = (5 * (5 + longest) - 20) / 8;
  t.deepEqual(
    estimate.times.map(({ time }) => time),
    [left, left * (1 + finishConstants.timeDoubt)],
  );
  const deviation = (longest - 5) / Math.sqrt(12) / left;
  t.is(estimate.longest, longest / left);
  // Three of eight have run for 90 together.
  t.is(estimate.scatter?.shortest, (90 + 25) / 8 / left);
  t.true(Math.abs((estimate.scatter?.loss ?? 0) - (1 + deviation ** 2) / 2) < 1e-9);
  t.is(lookAtTasks(someFacts({ taskTimes: { longest: 0, mean: 0, count: 1 } }), finishConstants).times[0]?.time, 1);
});

test('while more tasks have run as long as the shortest than have ended, it will soon show whether they are alike', (t) => {
  const seen = {
    now: 5000,
    taskTimes: { longest: 1000, mean: 1000, count: 2 },
    taskSpread: { shortest: 1000, deviation: 0 },
  };
  const shownAt = (running: readonly TaskGroup[], change: Partial<RequestFacts> = {}): number | undefined =>
    likenessShownAt({ ...seen, ...change }, running, finishConstants);
  // The oldest of them is the first to outlast the shortest, a millisecond after its time and a fiftieth.
  t.is(
    shownAt([
      { count: 1, time: 1010 },
      { count: 2, time: 1000 },
      { count: 9, time: 400 },
    ]),
    5011,
  );
  t.is(shownAt([{ count: 2, time: 1000 }]), undefined, 'as many have ended');
  t.is(shownAt([{ count: 9, time: 999 }]), undefined, 'none has run for as long');
  t.is(
    shownAt([
      { count: 9, time: 1000 },
      { count: 1, time: 1021 },
    ]),
    undefined,
    'one has outlasted the shortest',
  );
  t.is(
    shownAt([{ count: 9, time: 1000 }], { cutOff: [{ count: 1, time: 1021 }] }),
    undefined,
    'one that was cut had outlasted it',
  );
  t.is(
    shownAt([{ count: 9, time: 1000 }], { taskTimes: undefined, taskSpread: undefined }),
    undefined,
    'none has ended',
  );
  t.is(
    shownAt([{ count: 9, time: 0 }], { taskTimes: { longest: 0, mean: 0, count: 1 }, taskSpread: undefined }),
    undefined,
    'none takes any time',
  );
  t.is(
    shownAt([{ count: 9, time: 1000 }], {
      taskTimes: { longest: 1021, mean: 1010, count: 2 },
      taskSpread: { shortest: 1000, deviation: 10 },
    }),
    undefined,
    'two that have ended differ',
  );
  // Where they may have run for longer than was told, those that are as short within that count, too; not those that
  // began much later.
  t.is(shownAt([{ count: 9, time: 990 }], { taskAgeError: 10 }), 5031);
  t.is(shownAt([{ count: 9, time: 989 }], { taskAgeError: 10 }), undefined);
  t.is(shownAt([{ count: 9, time: 979 }], { taskAgeError: 2000 }), undefined);
  // At that time it shows.
  t.is(
    shownAt(
      [
        { count: 1, time: 1021 },
        { count: 2, time: 1011 },
        { count: 9, time: 411 },
      ],
      { now: 5011 },
    ),
    undefined,
  );
});

test('tasks that take about the same are alike; a half that ends first of a wide range is not taken for all', (t) => {
  const look = (change: Partial<RequestFacts>): Estimate =>
    lookAtTasks(
      someFacts({
        limits: { ...someFacts().limits, walltimeMax: 10_000 },
        demand: { pendingTasks: 50, processors: 1, deadline: undefined },
        ...change,
      }),
      finishConstants,
    );
  const alike = look({
    taskTimes: { longest: 1030, mean: 1000, count: 9 },
    taskSpread: { shortest: 990, deviation: 20 },
  });
  t.is(alike.scatter, undefined);
  t.is(alike.longest, 1.03);
  // Of 100 tasks that take 250 to 1750, evenly, half have ended after 1000; 50 run on.
  const runs = {
    requestId: 'q1',
    width: 50,
    walltime: 9999,
    status: 'running',
    startedAt: 0,
    tasks: [{ count: 50, time: 1000 }],
  } as const;
  const half = look({
    pending: [runs],
    taskTimes: { longest: 1000, mean: 625, count: 50 },
    taskSpread: { shortest: 250, deviation: 216 },
  });
  t.true(Math.abs((half.times[0]?.time ?? 0) - 1375) < 20, String(half.times[0]?.time));
  t.true((half.scatter?.shortest ?? 0) > 0.7);
});

test('a lane has done whole tasks if all are alike, else its time less the expected loss', (t) => {
  t.deepEqual(
    [0.99, 1, 2.5].map((times) => doneInLane(times, undefined)),
    [0, 1, 2],
  );
  const scatter = { shortest: 0.25, longest: 1.75, loss: 0.6 };
  t.deepEqual(
    [0.2, 0.25, 1, 1.75, 3].map((times) => doneInLane(times, scatter)),
    [0, 0, 0.5, 1.15, 2.4],
  );
  t.is(doneInLane(3, { shortest: 0.25, longest: 1.05, loss: 0.5 }), 2.5);
});

test('waits are a share of the promised ones: that of observed waits, and of what is expected before any', (t) => {
  const constants = { ...finishConstants, waitShare: 0.5, waitShareWeight: 2 };
  const wait = { width: 1, walltime: 1, promised: 100_000, actual: 100_000 };
  t.is(estimateWaitShare(someFacts(), constants), 0.5);
  t.is(estimateWaitShare(someFacts({ waits: [wait, { ...wait, promised: 1000, actual: 0 }] }), constants), 2 / 3);
});

test('a waiting request shows how promises are kept, once it has waited for a while', (t) => {
  const constants = { ...finishConstants, waitShare: 0.5, waitShareWeight: 1 };
  const minute = 60_000;
  const waiting = {
    requestId: 'q1',
    width: 1,
    walltime: 1,
    status: 'queued',
    startedAt: 0,
    submittedAt: 0,
    promisedStart: 600 * minute,
  } as const;
  const share = (now: number, predictedStart: number, change: Partial<PendingRequest> = {}): number =>
    estimateWaitShare(someFacts({ now, pending: [{ ...waiting, predictedStart, ...change }] }), constants);
  // After an hour, 200 min of what was promised are used up; or 60, the hour itself; no less counts where it has been
  // moved back.
  t.is(share(60 * minute, 460 * minute), (0.5 + 60 / 200) / 2);
  t.is(share(60 * minute, 600 * minute), (0.5 + 1) / 2);
  t.is(share(60 * minute, 700 * minute), (0.5 + 1) / 2);
  t.is(share(11 * minute, 100 * minute), 0.5);
  t.is(share(60 * minute, 460 * minute, { status: 'running', startedAt: 1 }), 0.5);
});

test('a slot is thought to bring what the best request now would bring, and all slots no more than one for the whole resource', (t) => {
  const facts = someFacts({
    limits: { processors: 8, requestsMax: 2, walltimeMax: 100, widthMax: 8, walltimeGranularity: 1 },
    demand: { pendingTasks: 4, processors: 1, deadline: undefined },
  });
  // 2 of 15 each from now on end at 30; 5 from 10 on at 25, one round of 20: the latter is the first. Rates: 4 / 30, 5
  // / 30, 48 / 150.
  // The last has the best rate; for half of what it would bring each there are two slots.
  t.deepEqual(lookLater({ facts, skyline, waitShare: 1, futureShare: 1 }, { time: 15 }), {
    pause: 25,
    rate: 48 / 150 / 2,
  });
  t.deepEqual(lookLater({ facts, skyline, waitShare: 0.5, futureShare: 0.5 }, { time: 100 }), {
    pause: 125,
    rate: 8 / 125 / 2 / 2,
  });
  // Where a request may be no wider than two, slots have processors beside each other.
  const narrow = { ...facts, limits: { ...facts.limits, widthMax: 2 } };
  t.deepEqual(lookLater({ facts: narrow, skyline, waitShare: 1, futureShare: 1 }, { time: 15 }), {
    pause: 15,
    rate: 2 * (2 / 30),
  });
});

test('lanes begin when enough of those before them have ended, and not before they are to', (t) => {
  const others: Lanes[] = [
    { count: 6, from: 10, age: 0, end: 50 },
    { count: 2, from: 0, age: 5, end: 20 },
    { count: 8, from: 50, age: 0, end: 90 },
  ];
  const begin = (count: number, from: number): number => startBeside(others, { count, from }, 8);
  t.deepEqual(
    [begin(6, 0), begin(7, 0), begin(2, 12), begin(3, 12), begin(2, 60), begin(8, 100)],
    [0, 90, 20, 90, 90, 100],
  );
  t.is(startBeside([], { count: 9, from: 7 }, 8), 7);
});

test('requests of all processors are expected one after the other, whatever share of promised waits others leave', (t) => {
  const limits = { processors: 8, requestsMax: 3, walltimeMax: 100, widthMax: 8, walltimeGranularity: 1 };
  const chain = [
    { start: 260, width: 2 },
    { start: 100, width: 8 },
    { start: 160, width: 8 },
  ].map(
    ({ start, width }, index): PendingRequest => ({
      requestId: `q${index}`,
      width,
      walltime: 60,
      status: 'queued',
      startedAt: 0,
      predictedStart: 1000 + start,
    }),
  );
  const runs: PendingRequest = { requestId: 'q9', width: 1, walltime: 90, status: 'running', startedAt: 1000 };
  const facts = someFacts({ now: 1000, limits, pending: [...chain, runs] });
  const views = viewOwn(facts.pending, { facts, skyline, waitShare: 0.5, places: new Map() });
  // The first is expected at 50, but one of its processors is held until 90; the second follows it, and a narrow one
  // comes after both.
  t.deepEqual(
    views.map(({ request, start, slotEnd, lanes }) => [request.requestId, start, lanes[0]?.from, slotEnd]),
    [
      ['q0', 260, 210, 270],
      ['q1', 100, 90, 150],
      ['q2', 160, 150, 210],
      ['q9', 0, 0, 90],
    ],
  );
});

test('tasks of several processors fit next to each other as whole lanes, and what no longer fits the resource delays nothing', (t) => {
  const limits = { processors: 8, requestsMax: 3, walltimeMax: 100, widthMax: 8, walltimeGranularity: 1 };
  const one = (requestId: string, width: number, predictedStart: number): PendingRequest => ({
    requestId,
    width,
    walltime: 60,
    status: 'queued',
    startedAt: 0,
    predictedStart,
  });
  const getStarts = (...pending: PendingRequest[]): (number | undefined)[] => {
    const facts = someFacts({ limits, pending, demand: { pendingTasks: 9, processors: 3, deadline: undefined } });
    return viewOwn(pending, { facts, skyline, waitShare: 0.5, places: new Map() }).map(({ lanes }) => lanes[0]?.from);
  };
  // Of 8 processors, two lanes.
  t.deepEqual(getStarts(one('q1', 3, 100), one('q2', 3, 110)), [50, 55]);
  t.deepEqual(getStarts(one('q1', 3, 100), one('q2', 6, 110)), [50, 110]);
  t.deepEqual(getStarts(one('q1', 12, 100), one('q2', 6, 110)), [50, 55]);
});

test('a manager keeps places when of those that have waited for a while none has come forward', (t) => {
  const minute = 60_000;
  const one = {
    requestId: 'q1',
    width: 1,
    walltime: 1,
    status: 'queued',
    startedAt: 0,
    submittedAt: 0,
    promisedStart: 90 * minute,
    predictedStart: 90 * minute,
  } as const;
  const keeps = (now: number, ...pending: PendingRequest[]): boolean => keepsPlaces({ pending, now }, finishConstants);
  const { promisedStart: _, ...unpromised } = one;
  t.deepEqual([keeps(12 * minute, one), keeps(11 * minute, one), keeps(12 * minute)], [true, false, false]);
  t.false(keeps(12 * minute, one, { ...one, predictedStart: 89 * minute }));
  t.false(keeps(12 * minute, one, unpromised));
  t.true(
    keeps(
      12 * minute,
      one,
      { ...one, predictedStart: 99 * minute },
      { ...unpromised, status: 'running' },
      { ...one, submittedAt: minute, predictedStart: 1 },
    ),
  );
});

test('where tasks differ they may take a tenth longer than was learnt, as long as that fits', (t) => {
  const look = (walltimeMax: number, deviation: number): Estimate =>
    lookAtTasks(
      someFacts({
        limits: { ...someFacts().limits, walltimeMax },
        taskTimes: { longest: 1500, mean: 1000, count: 50 },
        taskSpread: { shortest: 500, deviation },
      }),
      { ...finishConstants, timeDoubt: 0.1, timeDoubtWeight: 0.4 },
    );
  t.deepEqual(look(9000, 300).times, [
    { time: 1000, weight: 0.6 },
    { time: 1100, weight: 0.4 },
  ]);
  t.deepEqual(
    look(1050, 300).times.map(({ time }) => time),
    [1000, 1050],
  );
  t.deepEqual(
    [look(1000, 300).times, look(9000, 30).times],
    [[{ time: 1000, weight: 1 }], [{ time: 1000, weight: 1 }]],
  );
});

test('lanes for which no task waits count for nothing, but for those that an earlier request cuts', (t) => {
  const lane = { count: 6, from: 0, age: 0, end: 100 };
  const used = (lanes: readonly Lanes[], waiting: number): (number | undefined)[] =>
    useLanes(lanes, waiting).map((one) => one.used);
  t.deepEqual(used([lane, { ...lane, from: 50 }, { ...lane, from: 100 }], 8), [6, 2, 6]);
  const runs = { count: 5, from: 0, age: 70, end: 60 };
  t.deepEqual(used([{ ...lane, from: 59 }, { ...lane, from: 60, end: 200 }, runs], 0), [undefined, 0, 5]);
});

test('a task that has run for long and is cut begins again as a long one; one in progress ends by its own time', (t) => {
  const scatter = { shortest: 0.5, longest: 1.5, loss: 0.55 };
  const bag: Bag = { tasks: 4, time: 1000, scatter, later: nothingLater };
  const runs = someWorkers({ lanes: [{ count: 4, from: 0, age: 1100, end: 300 }] });
  // Each ends by 400 from now, evenly likely, unless its request does before.
  t.deepEqual(
    [100, 200, 300, 900].map((at) => countDone(at, runs, bag)),
    [1, 2, 3, 3],
  );
  const again = someWorkers({
    waiting: 4,
    lanes: [{ count: 4, from: 0, age: 0, end: 1500 }],
    restarted: [{ count: 4, time: 1100 }],
  });
  const fresh = { ...again, restarted: [] };
  t.true(Math.abs(countDone(1000, fresh, bag) - countDone(1000, again, bag) - 4 * 0.3) < 1e-9);
});
