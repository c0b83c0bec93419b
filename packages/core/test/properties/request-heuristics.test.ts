import test from 'ava';
import fc from 'fast-check';
import { conservativeBackfilling, RequestPlan } from '@mutirao/core/queue';
import {
  adaptiveHeuristic,
  estimateTaskTime,
  findHeuristic,
  finishHeuristic,
  heuristicDefaults,
  heuristicNames,
  readQueue,
  type PendingRequest,
  type RequestDecision,
  type RequestFacts,
  type RequestHeuristic,
} from '@mutirao/core/requests';
import { findHoles } from '../../src/requests/find-holes.ts';
import { FreeTime } from '@mutirao/core/profile';
import { aListing, aServed, type ListedRequest, runs, someFacts } from '@mutirao/testkit';

const processors = 6;

const listed = fc.record({ width: fc.integer({ min: 1, max: processors }), walltime: fc.integer({ min: 1, max: 15 }) });

/** A queue as conservative backfilling has it after all of these arrived at once. */
function promise(requests: readonly { width: number; walltime: number }[]): {
  plan: RequestPlan;
  listed: ListedRequest[];
} {
  const plan = new RequestPlan(processors, 0);
  const policy = conservativeBackfilling('start-now');
  requests.forEach(({ width, walltime }, id) => {
    plan.add(id, width, walltime);
    policy.onSubmitted(plan, id, 0, (placed, startsAt) => {
      plan.place(placed, startsAt);
    });
  });
  const entries = [...plan.waiting.values()].map(
    ({ width, walltime, startsAt = 0 }): ListedRequest => ({
      width,
      walltime,
      startsAt,
      status: startsAt === 0 ? 'running' : 'queued',
    }),
  );
  return { plan, listed: entries };
}

const scene = fc.record({
  queue: fc.array(listed, { maxLength: 12 }),
  requestsMax: fc.integer({ min: 1, max: 5 }),
  pendingCount: fc.integer({ min: 0, max: 5 }),
  widthMax: fc.integer({ min: 1, max: processors }),
  walltimeMax: fc.integer({ min: 1, max: 30 }),
  grain: fc.integer({ min: 1, max: 4 }),
  tasks: fc.integer({ min: 0, max: 20 }),
  perTask: fc.integer({ min: 1, max: 3 }),
  longest: fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined }),
  held: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
  holes: fc.constantFrom('in-order' as const, 'best-first' as const, 'maximal' as const),
  holeWalltime: fc.constantFrom('whole-tasks' as const, 'whole-hole' as const),
  exchange: fc.constantFrom('best' as const, 'first' as const),
});
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

function listFacts(s: Scene): RequestFacts {
  return someFacts({
    limits: {
      processors,
      requestsMax: s.requestsMax,
      widthMax: s.widthMax,
      walltimeMax: s.walltimeMax,
      walltimeGranularity: s.grain,
    },
    listing: aListing(processors, 0, promise(s.queue).listed),
    pending: Array.from({ length: s.pendingCount }, (_, index) => ({
      requestId: `q${index}`,
      width: 1,
      walltime: 1,
      status: 'queued',
      startedAt: 0,
    })),
    served: s.held === undefined ? [] : [aServed(2, 0, s.held, 3)],
    demand: { pendingTasks: s.tasks, processors: s.perTask, deadline: undefined },
    taskTimes: s.longest === undefined ? undefined : { longest: s.longest, mean: s.longest, count: 1 },
    options: {
      ...heuristicDefaults,
      defaultTime: 5,
      holes: s.holes,
      holeWalltime: s.holeWalltime,
      exchange: s.exchange,
    },
  });
}

const all = heuristicNames.map((name) => findHeuristic(name) as RequestHeuristic);
const nightRuns = runs(20_250_101, 1000);

test('no heuristic asks for more than the limits allow, nor for more requests than slots are free', (t) => {
  fc.assert(
    fc.property(scene, fc.constantFrom(...all), (s, heuristic) => {
      const { drafts, givenUp = [] } = heuristic.draft(listFacts(s));
      return (
        drafts.length <= Math.max(0, s.requestsMax - s.pendingCount + givenUp.length) &&
        drafts.every(
          ({ width, walltime, reasons }) =>
            width >= 1 &&
            width <= s.widthMax &&
            width % s.perTask === 0 &&
            walltime >= 1 &&
            walltime <= s.walltimeMax &&
            walltime % s.grain === 0 &&
            reasons.length > 0,
        )
      );
    }),
    nightRuns,
  );
  t.pass();
});

test('every heuristic but finish fills every free slot, unless it says what is in the way', (t) => {
  fc.assert(
    fc.property(scene, fc.constantFrom(...all.filter(({ name }) => name !== 'finish')), (s, heuristic) => {
      const { drafts, reasons } = heuristic.draft(listFacts(s));
      const isPossible =
        s.tasks > 0 && s.perTask <= s.widthMax && s.grain <= s.walltimeMax && s.requestsMax > s.pendingCount;
      return reasons.length > 0 && drafts.length === (isPossible ? s.requestsMax - s.pendingCount : 0);
    }),
    nightRuns,
  );
  t.pass();
});

/** Limits that became smaller while own requests wait and run that were asked for under larger ones. */
const shrunk = fc.record({
  scene,
  processors: fc.integer({ min: 1, max: processors }),
  requestsMax: fc.constantFrom(0, 1, 1, 2, 3, 8),
  trigger: fc.constantFrom('own' as const, 'queue' as const, 'review' as const),
  own: fc.array(
    fc.record({
      width: fc.integer({ min: 1, max: 2 * processors }),
      walltime: fc.integer({ min: 1, max: 60 }),
      status: fc.constantFrom('submitting' as const, 'queued' as const, 'queued' as const, 'running' as const),
      startsAt: fc.integer({ min: 0, max: 60 }),
    }),
    { minLength: 1, maxLength: 5 },
  ),
});
type Shrunk = typeof shrunk extends fc.Arbitrary<infer T> ? T : never;

/** What is known then, times in seconds; own requests are listed behind the others. */
function shrunkFacts({ scene: plain, own, trigger, ...limits }: Shrunk, pending = ownPending(own)): RequestFacts {
  const facts = listFacts(inSeconds(plain));
  const entries = pending.map(
    ({ width, walltime, status, predictedStart = 0 }): ListedRequest => ({
      width,
      walltime,
      status: status === 'running' ? 'running' : 'queued',
      startsAt: status === 'running' ? 0 : predictedStart,
    }),
  );
  const others = promise(inSeconds(plain).queue).listed;
  return {
    ...facts,
    limits: { ...facts.limits, ...limits },
    trigger,
    listing: aListing(limits.processors, 0, [...others, ...entries]),
    pending: pending.map((request, index) => ({ ...request, listedAs: String(others.length + index) })),
  };
}

function ownPending(own: Shrunk['own']): PendingRequest[] {
  return own.map(({ width, walltime, status, startsAt }, index) => ({
    requestId: `q${index}`,
    width,
    walltime: walltime * 1000,
    status,
    startedAt: 0,
    ...(status === 'queued' && startsAt > 0 ? { predictedStart: startsAt * 1000 } : {}),
  }));
}

/** What is pending once a decision is followed. */
function follow(
  pending: readonly PendingRequest[],
  { drafts, givenUp = [] }: RequestDecision,
  round: number,
): PendingRequest[] {
  const kept = pending.filter(({ requestId }) => !givenUp.some((one) => one.requestId === requestId));
  return [
    ...kept,
    ...drafts.map(
      ({ width, walltime }, index): PendingRequest => ({
        requestId: `r${round}.${index}`,
        width,
        walltime,
        status: 'queued',
        startedAt: 0,
      }),
    ),
  ];
}

/** The same, those that wait and were promised nothing at the earliest places that all others leave. */
function promiseOwn(s: Shrunk, pending: readonly PendingRequest[]): PendingRequest[] {
  const facts = shrunkFacts(s, [...pending]);
  const places = new Map<string, number>();
  readQueue(facts, {
    onPlaced: ({ managerRequestId }, startsAt) => {
      places.set(managerRequestId, startsAt);
    },
  });
  return facts.pending.map((one) => ({
    ...one,
    ...(one.status === 'queued' ? { predictedStart: one.predictedStart ?? places.get(one.listedAs ?? '') ?? 0 } : {}),
  }));
}

function isWithin({ limits, demand, pending }: RequestFacts, decision: RequestDecision): boolean {
  const { drafts, givenUp = [] } = decision;
  const areOwn =
    new Set(givenUp.map(({ requestId }) => requestId)).size === givenUp.length &&
    givenUp.every(({ requestId }) => pending.some((request) => request.requestId === requestId));
  const fits = drafts.length === 0 || follow(pending, decision, 0).length <= limits.requestsMax;
  return (
    areOwn &&
    fits &&
    drafts.every(
      ({ width, walltime }) =>
        width >= 1 &&
        width <= limits.widthMax &&
        width % demand.processors === 0 &&
        walltime >= 1 &&
        walltime <= limits.walltimeMax &&
        walltime % limits.walltimeGranularity === 0,
    )
  );
}

test('when limits become smaller than the present requests, no heuristic asks for more than they allow now, and none while there are no slots', (t) => {
  fc.assert(
    fc.property(shrunk, fc.constantFrom(...all), (s, heuristic) => {
      const facts = shrunkFacts(s);
      const decision = heuristic.draft(facts);
      return isWithin(facts, decision) && decision.reasons.length > 0;
    }),
    nightRuns,
  );
  t.pass();
});

test('when limits become smaller and nothing else happens, every heuristic soon asks for nothing: no loop of submitting and withdrawing', (t) => {
  let [drafted, givenUp] = [0, 0];
  fc.assert(
    fc.property(shrunk, fc.constantFrom(...all), (s, heuristic) => {
      let pending = ownPending(s.own);
      for (let round = 1; round <= 20; round += 1) {
        const facts = shrunkFacts(s, pending);
        const decision = heuristic.draft(facts);
        const [draftCount, givenUpCount] = [decision.drafts.length, decision.givenUp?.length ?? 0];
        if (!isWithin(facts, decision) || (round > 8 && draftCount + givenUpCount > 0)) return false;
        drafted += draftCount;
        givenUp += givenUpCount;
        pending = promiseOwn(s, follow(pending, decision, round));
      }
      return true;
    }),
    nightRuns,
  );
  t.true(drafted > 300 && givenUp > 5, `${drafted} drafted, ${givenUp} given up`);
});

/** Times of the queue that is served in turn. */
const inTurnUnit = 10 * 60_000;

test('when no request passes a head that cannot start and only the clock goes on, finish soon gives up nothing: no loop of submitting and withdrawing', (t) => {
  let [drafted, givenUp, inTurn] = [0, 0, 0];
  fc.assert(
    fc.property(
      scene,
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.constantFrom('own' as const, 'queue' as const, 'review' as const), { minLength: 24, maxLength: 24 }),
      (s, held, triggers) => {
        // Nobody ends while it is looked, and behind the head nobody starts.
        const others = [{ width: held, walltime: 5 }, { width: processors, walltime: 3 }, ...s.queue].map(
          ({ width, walltime }, index): ListedRequest => ({
            width,
            walltime: walltime * inTurnUnit,
            status: index === 0 ? 'running' : 'queued',
            startsAt: index === 0 ? inTurnUnit : 0,
          }),
        );
        let own: PendingRequest[] = [];
        return triggers.every((trigger, round) => {
          const now = (1 + round / 50) * inTurnUnit;
          const decision = finishHeuristic.draft({
            ...listFacts(s),
            now,
            trigger,
            served: [],
            listing: aListing(processors, now, [
              ...others,
              ...own.map(({ width, walltime }): ListedRequest => ({ width, walltime, status: 'queued' })),
            ]),
            pending: own.map((one, index) => ({ ...one, listedAs: String(others.length + index) })),
            limits: {
              processors,
              requestsMax: s.requestsMax,
              widthMax: s.widthMax,
              walltimeMax: s.walltimeMax * inTurnUnit,
              walltimeGranularity: s.grain * 60_000,
            },
            taskTimes:
              s.longest === undefined || round < 6
                ? undefined
                : { longest: s.longest * inTurnUnit, mean: s.longest * inTurnUnit, count: 1 },
          });
          const givenUpCount = decision.givenUp?.length ?? 0;
          drafted += decision.drafts.length;
          givenUp += givenUpCount;
          if (decision.reasons.some(({ code }) => code === 'finish-no-backfill')) inTurn += 1;
          own = follow(own, decision, round);
          return own.length <= s.requestsMax && (round < 14 || givenUpCount === 0);
        });
      },
    ),
    nightRuns,
  );
  t.true(drafted > 300 && givenUp > 5 && inTurn > 100, `${drafted} drafted, ${givenUp} given up, ${inTurn} in turn`);
});

test('the same facts make the same decision, and are left as they were', (t) => {
  fc.assert(
    fc.property(scene, fc.constantFrom(...all), (s, heuristic) => {
      const facts = listFacts(s);
      const before = JSON.stringify(facts);
      const first = JSON.stringify(heuristic.draft(facts));
      return JSON.stringify(heuristic.draft(facts)) === first && JSON.stringify(facts) === before;
    }),
    nightRuns,
  );
  t.pass();
});

/** The same in seconds: classes of walltimes begin there. */
function inSeconds(s: Scene): Scene {
  const slow = (time: number | undefined): number | undefined => (time === undefined ? undefined : time * 1000);
  return {
    ...s,
    queue: s.queue.map(({ width, walltime }) => ({ width, walltime: walltime * 1000 })),
    walltimeMax: s.walltimeMax * 1000,
    longest: slow(s.longest),
    held: slow(s.held),
  };
}

test('a listing with promises, one without and the profile itself make the same decision', (t) => {
  fc.assert(
    fc.property(scene, fc.array(listed, { maxLength: 30 }), fc.constantFrom(...all), (one, queue, heuristic) => {
      const s = inSeconds({ ...one, queue });
      const facts = listFacts(s);
      const decide = (change: Partial<RequestFacts>): string =>
        JSON.stringify(heuristic.draft({ ...facts, ...change }));
      const { plan } = promise(s.queue);
      const unpromised = facts.listing.requests.map((request) =>
        request.status === 'queued' ? { ...request, startsAt: 0 } : request,
      );
      const waitingCount = unpromised.filter(({ status }) => status === 'queued').length;
      const expected = decide({});
      return (
        decide({ listing: { ...facts.listing, requests: unpromised } }) === expected &&
        decide({ queue: { profile: plan.profile, waitingCount }, listing: aListing(processors, 0, []) }) === expected
      );
    }),
    nightRuns,
  );
  t.pass();
});

/** The slow reference: what is free at each instant. */
function freeInstants(s: Scene): { free: number[]; queueEnd: number } {
  const free = new Array<number>(400).fill(processors);
  let queueEnd = 0;
  for (const { width, walltime, startsAt = 0 } of promise(s.queue).listed) {
    queueEnd = Math.max(queueEnd, startsAt + walltime);
    for (let at = startsAt; at < startsAt + walltime; at += 1) free[at]! -= width;
  }
  return { free, queueEnd };
}

test('candidates before the end of the queue fit into what is free, all at once unless they are maximal', (t) => {
  fc.assert(
    fc.property(scene, (s) => {
      const { free, queueEnd } = freeInstants(s);
      const { candidates = [] } = adaptiveHeuristic.draft(listFacts(s));
      for (const { width, walltime, startsAt } of candidates) {
        if (startsAt >= queueEnd) continue;
        for (let at = startsAt; at < startsAt + walltime; at += 1) {
          if (free[at]! < width) return false;
          if (s.holes !== 'maximal') free[at]! -= width;
        }
      }
      return true;
    }),
    nightRuns,
  );
  t.pass();
});

/**
 * The maximal holes by trying every instant and every width: none could start earlier, be wider for as long, or last
 * longer.
 */
function slowMaximal(s: Scene, taskTime: number): [startsAt: number, width: number, walltime: number][] {
  const { free, queueEnd } = freeInstants(s);
  const lanesMax = Math.floor(s.widthMax / s.perTask);
  const getExtent = (startsAt: number, lanes: number): number => {
    let extent = 0;
    while (extent < s.walltimeMax && free[startsAt + extent]! >= lanes * s.perTask) extent += 1;
    return extent;
  };
  const found: [number, number, number][] = [];
  for (let startsAt = 0; startsAt < queueEnd; startsAt += 1) {
    for (let lanes = lanesMax; lanes > 0; lanes -= 1) {
      const extent = getExtent(startsAt, lanes);
      const couldBeEarlier = startsAt > 0 && free[startsAt - 1]! >= lanes * s.perTask;
      const couldBeWider = lanes < lanesMax && getExtent(startsAt, lanes + 1) === extent;
      if (extent >= taskTime && !couldBeEarlier && !couldBeWider) found.push([startsAt, lanes * s.perTask, extent]);
    }
  }
  return found;
}

test('the maximal holes are all of those that are found by trying every rectangle, and no other', (t) => {
  let count = 0;
  fc.assert(
    fc.property(scene, fc.integer({ min: 1, max: 6 }), (s, taskTime) => {
      const holes = findHoles(FreeTime.ofProfile(promise(s.queue).plan.profile, 0), {
        now: 0,
        taskTime,
        walltimeMax: s.walltimeMax,
        grain: 1,
        perTask: s.perTask,
        lanesMax: Math.floor(s.widthMax / s.perTask),
        holes: 'maximal',
        holeWalltime: 'whole-hole',
      });
      count += holes.length;
      return (
        JSON.stringify(holes.map(({ startsAt, width, walltime }) => [startsAt, width, walltime])) ===
        JSON.stringify(slowMaximal(s, taskTime))
      );
    }),
    nightRuns,
  );
  t.true(count > 300);
});

interface Shape {
  startsAt: number;
  lanes: number;
  walltime: number;
  tasks: number;
}

const alone = ({ tasks, startsAt, walltime }: Shape): number => tasks / (startsAt + walltime);
const together = (set: readonly Shape[]): number =>
  set.reduce((sum, { tasks }) => sum + tasks, 0) /
  Math.max(...set.map(({ startsAt, walltime }) => startsAt + walltime));

/** Every width and every number of whole tasks that fit from an instant on. */
function slowShapes(s: Scene, taskTime: number, free: readonly number[], startsAt: number): Shape[] {
  const shapes: Shape[] = [];
  for (let lanes = 1; lanes * s.perTask <= s.widthMax; lanes += 1) {
    for (let walltime = taskTime; walltime <= s.walltimeMax; walltime += taskTime) {
      const fits = free.slice(startsAt, startsAt + walltime).every((count) => count >= lanes * s.perTask);
      if (fits) shapes.push({ startsAt, lanes, walltime, tasks: (lanes * walltime) / taskTime });
    }
  }
  return shapes;
}

/** The holes by trying every shape at each breakpoint, in order of time. */
function slowHoles(s: Scene, taskTime: number): { holes: Shape[]; queueEnd: number } {
  const { free, queueEnd } = freeInstants(s);
  const breakpoints = new Set(free.flatMap((count, at) => (at === 0 || count !== free[at - 1] ? [at] : [])));
  const holes: Shape[] = [];
  for (let startsAt = 0; startsAt < queueEnd; startsAt += 1) {
    if (!breakpoints.has(startsAt)) continue;
    const [best] = slowShapes(s, taskTime, free, startsAt).sort(
      (one, other) => alone(other) - alone(one) || other.tasks - one.tasks,
    );
    if (best === undefined) continue;
    for (let at = startsAt; at < startsAt + best.walltime; at += 1) free[at]! -= best.lanes * s.perTask;
    breakpoints.add(startsAt + best.walltime);
    holes.push(best);
  }
  return { holes, queueEnd };
}

/**
 * Alg. 3.3 word for word, but that no candidate is taken twice, and that the option says which of several exchanges is
 * made.
 */
function slowAdaptive(s: Scene, taskTime: number): [width: number, walltime: number][] {
  const { holes, queueEnd } = slowHoles(s, taskTime);
  const lanes = Math.floor(s.widthMax / s.perTask);
  const walltime = Math.floor(s.walltimeMax / s.grain) * s.grain;
  const abreast = Math.floor(processors / (lanes * s.perTask));
  const candidates = [...holes];
  for (let i = 0; i < s.requestsMax; i += 1) {
    candidates.push({
      lanes,
      walltime,
      startsAt: queueEnd + Math.floor(i / abreast) * walltime,
      tasks: lanes * Math.floor(walltime / taskTime),
    });
  }
  let chosen = candidates.slice(0, s.requestsMax - s.pendingCount);
  for (const candidate of candidates.slice(chosen.length)) {
    const raising = chosen
      .map((_, index) => chosen.with(index, candidate))
      .filter((swapped) => together(swapped) > together(chosen));
    // The sort is stable: of those that raise V as much, the first.
    if (s.exchange === 'best') raising.sort((one, other) => together(other) - together(one));
    chosen = raising[0] ?? chosen;
  }
  const lanesSum = chosen.reduce((sum, one) => sum + one.lanes, 0);
  return chosen.map((one) => [
    s.perTask * (s.tasks < lanesSum ? Math.ceil((s.tasks * one.lanes) / lanesSum) : one.lanes),
    one.walltime,
  ]);
}

test('the adaptive heuristic asks for what Alg. 3.3 does when every rectangle is tried', (t) => {
  fc.assert(
    fc.property(scene, (s) => {
      fc.pre(s.tasks > 0 && s.perTask <= s.widthMax && s.grain <= s.walltimeMax && s.requestsMax > s.pendingCount);
      const facts = listFacts({ ...s, holes: 'in-order', holeWalltime: 'whole-tasks' });
      const { drafts } = adaptiveHeuristic.draft(facts);
      const expected = slowAdaptive(s, estimateTaskTime(facts).time);
      return JSON.stringify(drafts.map(({ width, walltime }) => [width, walltime])) === JSON.stringify(expected);
    }),
    { ...nightRuns, numRuns: 3000 },
  );
  t.pass();
});

test('no exchange lowers the throughput: the chosen requests together have at least that of the first candidates', (t) => {
  fc.assert(
    fc.property(scene, (s) => {
      fc.pre(s.tasks > 0 && s.perTask <= s.widthMax && s.grain <= s.walltimeMax && s.requestsMax > s.pendingCount);
      const facts = listFacts({ ...s, holes: 'in-order', holeWalltime: 'whole-tasks' });
      const taskTime = estimateTaskTime(facts).time;
      const { candidates = [] } = adaptiveHeuristic.draft(facts);
      const chosen = candidates
        .filter((candidate) => candidate.chosen)
        .map(
          ({ width, walltime, startsAt }): Shape => ({
            startsAt,
            walltime,
            lanes: width / s.perTask,
            tasks: (width / s.perTask) * Math.floor(walltime / taskTime),
          }),
        );
      const { holes } = slowHoles(s, taskTime);
      const slots = s.requestsMax - s.pendingCount;
      return chosen.length === slots && (holes.length < slots || together(chosen) >= together(holes.slice(0, slots)));
    }),
    nightRuns,
  );
  t.pass();
});
