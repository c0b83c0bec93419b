import test from 'ava';
import fc from 'fast-check';
import type { QueuedRequest } from '@mutirao/core/messages';
import { conservativeBackfilling, RequestPlan } from '@mutirao/core/queue';
import {
  finishConstants,
  finishHeuristic,
  RequestBudget,
  requestBudget,
  type PendingRequest,
  type RequestDecision,
  type RequestFacts,
} from '@mutirao/core/requests';
import { Prng } from '@mutirao/core/shared';
import { runs, someFacts } from '@mutirao/testkit';
import { drainTime, type Bag, type Lanes, type Workers } from '../../src/requests/finish/draining.ts';
import { likenessShownAt } from '../../src/requests/finish/learn.ts';
import { estimateWaitShare } from '../../src/requests/finish/own-requests.ts';
import { couldScoreBelow, rate, type PlanContext } from '../../src/requests/finish/plan.ts';

const minute = 60_000;
const hour = 60 * minute;
const processors = 16;
const nightRuns = runs(20_261_123, 300);

/** Anything that a manager might list, sense or not. */
const anyTime = fc.oneof(
  fc.integer({ min: -5 * hour, max: 60 * hour }),
  fc.constantFrom(0, -1, 1, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER),
);
const anyListed = fc.record({
  width: fc.integer({ min: 0, max: 3 * processors }),
  walltime: anyTime,
  startsAt: anyTime,
  submittedAt: anyTime,
  status: fc.constantFrom('queued' as const, 'running' as const, 'ended' as const),
});
const anyPending = fc.record({
  width: fc.integer({ min: 1, max: 2 * processors }),
  walltime: fc.integer({ min: 1, max: 100 * hour }),
  status: fc.constantFrom('submitting' as const, 'queued' as const, 'running' as const),
  startedAt: anyTime,
  submittedAt: anyTime,
  promisedStart: fc.option(anyTime, { nil: undefined }),
  predictedStart: fc.option(anyTime, { nil: undefined }),
  tasks: fc.option(
    fc.array(fc.record({ count: fc.integer({ min: 1, max: 40 }), time: fc.integer({ min: 0, max: 30 * hour }) }), {
      maxLength: 4,
    }),
    { nil: undefined },
  ),
});
const hostile = fc.record({
  listed: fc.array(anyListed, { maxLength: 12 }),
  waits: fc.array(fc.record({ promised: fc.nat(60 * hour), actual: fc.nat(60 * hour) }), { maxLength: 60 }),
  pending: fc.array(anyPending, { maxLength: 5 }),
  free: fc.integer({ min: -3, max: 2 * processors }),
  requestsMax: fc.integer({ min: 0, max: 4 }),
  widthMax: fc.integer({ min: 1, max: processors }),
  walltimeMax: fc.constantFrom(0, 1, 999, minute, 18 * hour),
  grain: fc.constantFrom(1, 1000, minute),
  tasks: fc.constantFrom(0, 1, 7, 1000, 1_000_000),
  perTask: fc.integer({ min: 1, max: 5 }),
  unplaced: fc.option(fc.constantFrom(0, 1, 1000), { nil: undefined }),
  times: fc.option(
    fc.record({
      longest: fc.constantFrom(0, 1, 5000, 40 * hour),
      mean: fc.constantFrom(0, 1, 5000),
      count: fc.integer({ min: 1, max: 50 }),
    }),
    { nil: undefined },
  ),
  submissions: fc.integer({ min: 0, max: 3 }),
  withdrawals: fc.integer({ min: 0, max: 2 }),
  state: fc.constantFrom('complete' as const, 'hidden' as const, 'stale' as const),
  trigger: fc.constantFrom('own' as const, 'queue' as const, 'review' as const),
});
type Hostile = typeof hostile extends fc.Arbitrary<infer T> ? T : never;

function hostileFacts(h: Hostile): RequestFacts {
  const requests = h.listed.map(
    (entry, index): QueuedRequest => ({
      ...entry,
      managerRequestId: String(index),
      userId: '',
      endedAt: 0,
      endReason: '',
      clientRequestId: '',
    }),
  );
  return someFacts({
    now: hour,
    listing: { at: 0, processorsFree: h.free, requests },
    limits: {
      processors,
      requestsMax: h.requestsMax,
      widthMax: h.widthMax,
      walltimeMax: h.walltimeMax,
      walltimeGranularity: h.grain,
    },
    pending: h.pending.map(
      ({ promisedStart, predictedStart, tasks, ...one }, index): PendingRequest => ({
        requestId: `q${index}`,
        ...one,
        ...(promisedStart === undefined ? {} : { promisedStart }),
        ...(predictedStart === undefined ? {} : { predictedStart }),
        ...(tasks === undefined ? {} : { tasks }),
      }),
    ),
    waits: h.waits.map((wait) => ({ width: 1, walltime: hour, ...wait })),
    demand: { pendingTasks: h.tasks, unplacedTasks: h.unplaced, processors: h.perTask, deadline: undefined },
    taskTimes: h.times,
    budget: { submissions: h.submissions, withdrawals: h.withdrawals },
    listingState: h.state,
    trigger: h.trigger,
  });
}

test('whatever is listed, it asks within the limits and the budget, gives up only pending requests, and comes to an end', (t) => {
  fc.assert(
    fc.property(hostile, (h) => {
      const { drafts, givenUp = [], reviewAt = hour + 1, reasons } = finishHeuristic.draft(hostileFacts(h));
      const pending = new Set(h.pending.map((_, index) => `q${index}`));
      const isWithin = drafts.every(
        ({ width, walltime }) =>
          width >= 1 &&
          width <= h.widthMax &&
          width % h.perTask === 0 &&
          walltime >= 1 &&
          walltime <= h.walltimeMax &&
          walltime % h.grain === 0,
      );
      const areOwn = givenUp.every(({ requestId }) => pending.delete(requestId));
      const fitsSlots = drafts.length === 0 || drafts.length + pending.size <= h.requestsMax;
      return (
        isWithin &&
        areOwn &&
        fitsSlots &&
        drafts.length <= h.submissions &&
        givenUp.length <= h.withdrawals &&
        reviewAt > hour &&
        reasons.length > 0
      );
    }),
    nightRuns,
  );
  t.pass();
});

test('whatever is promised, and whenever, requests are expected to wait for some of it, and for no more than all', (t) => {
  fc.assert(
    fc.property(hostile, (h) => {
      const share = estimateWaitShare(hostileFacts(h), finishConstants);
      return share > 0 && share <= 1;
    }),
    { ...nightRuns, numRuns: 10 * nightRuns.numRuns },
  );
  t.pass();
});

const nearTimes = fc.array(
  fc.record({ count: fc.integer({ min: 1, max: 50 }), beside: fc.double({ min: 0.5, max: 1.025, noNaN: true }) }),
  { minLength: 1, maxLength: 6 },
);

test('though none of them ends it waits once to see whether tasks are alike, for a fiftieth of the shortest at most, or two where ages are not exact', (t) => {
  let waits = 0;
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 30 * hour }),
      fc.integer({ min: 1, max: 50 }),
      nearTimes,
      fc.constantFrom(0, 2000),
      (shortest, count, near, taskAgeError) => {
        const facts = someFacts({ now: hour, taskTimes: { longest: shortest, mean: shortest, count }, taskAgeError });
        const running = near.map(({ count: tasks, beside }) => ({ count: tasks, time: Math.floor(beside * shortest) }));
        const shownAt = likenessShownAt(facts, running, finishConstants);
        if (shownAt === undefined) return true;
        waits += 1;
        const wait = shownAt - hour;
        const later = running.map((group) => ({ ...group, time: group.time + wait }));
        return (
          wait > 0 &&
          wait <= ((taskAgeError > 0 ? 2 : 1) * shortest) / 50 + 1 &&
          likenessShownAt({ ...facts, now: shownAt }, later, finishConstants) === undefined
        );
      },
    ),
    nightRuns,
  );
  t.true(waits > 10);
});

const anyLanes = (age: fc.Arbitrary<number>): fc.Arbitrary<Lanes[]> =>
  fc.array(
    fc
      .tuple(fc.integer({ min: 1, max: 50 }), age, fc.nat(20 * hour), fc.nat(60 * hour))
      .map(([count, ran, from, extent]) =>
        ran > 0 ? { count, age: ran, from: 0, end: extent } : { count, age: 0, from, end: from + extent },
      ),
    { maxLength: 3 },
  );
const anyPlan = fc.record({
  lanes: anyLanes(fc.constant(0)),
  slotEnds: fc.array(fc.nat(60 * hour), { minLength: 1, maxLength: 4 }),
});
const anyScatter = fc.option(
  fc.record({
    shortest: fc.double({ min: 0.1, max: 0.9, noNaN: true }),
    longest: fc.double({ min: 1.1, max: 3, noNaN: true }),
    loss: fc.double({ min: 0.5, max: 0.9, noNaN: true }),
  }),
  { nil: undefined },
);

/** Two plans for a job, of which some tasks run, and some wait. */
const anyPlans = fc.record({
  running: anyLanes(fc.integer({ min: minute, max: 5 * hour })),
  waiting: fc.integer({ min: 1, max: 500 }),
  one: anyPlan,
  other: anyPlan,
  scatter: anyScatter,
  pause: fc.nat(10 * hour),
  share: fc.constantFrom(1, 1e-6, 0),
  shortest: fc.integer({ min: 10_000, max: hour }),
  near: fc.double({ min: 0.1, max: 9, noNaN: true }),
});

test('no plan is refused unrated that would be better, and when a bag is empty depends little on where it is looked first', (t) => {
  fc.assert(
    fc.property(anyPlans, ({ running, waiting, one, other, scatter, pause, share, shortest, near }) => {
      const tasks = running.reduce((sum, { count }) => sum + count, waiting);
      const bags = [1, 3, 9, 27].map(
        (times): Bag => ({
          tasks,
          scatter,
          time: shortest * times,
          later: { pause, rate: share / (shortest * times) },
        }),
      );
      const context = {
        bags,
        estimate: { times: bags.map(({ time }) => ({ time, weight: 1 / bags.length })), longest: 1, reason: '' },
      } as unknown as PlanContext;
      const getWorkers = ({ lanes, slotEnds }: Pick<Workers, 'lanes' | 'slotEnds'>): Workers => ({
        lanes: [...running, ...lanes],
        slotEnds,
        waiting,
        restarted: [],
      });
      const [before, after] = [rate(context, getWorkers(one)), rate(context, getWorkers(other))];
      const isRight = couldScoreBelow(context, before, getWorkers(other)) || after.score >= before.score - 0.001;
      return (
        isRight &&
        bags.every((bag, index) => {
          const plain = after.finishes[index] as number;
          return Math.abs(drainTime(getWorkers(other), bag, near * plain) - plain) <= Math.max(1000, plain / 1000);
        })
      );
    }),
    { ...nightRuns, numRuns: 5 * nightRuns.numRuns },
  );
  t.pass();
});

/**
 * A cluster with its local users, who come, and leave early, as rng has it; own requests are promised places like all
 * others.
 */
class Cluster {
  readonly plan = new RequestPlan(processors, 0);
  readonly #policy = conservativeBackfilling('start-now');
  #nextId = 0;

  submit(width: number, walltime: number, now: number): number {
    const id = this.#nextId;
    this.#nextId += 1;
    this.plan.add(id, width, walltime);
    this.#policy.onSubmitted(this.plan, id, now, this.#place);
    return id;
  }

  end(id: number, now: number): void {
    this.plan.end(id, now);
    this.#policy.onEnded(this.plan, now, this.#place);
  }

  start(now: number): void {
    for (const { id } of this.plan.findDue(now)) this.plan.start(id);
  }

  readonly #place = (id: number, startsAt: number | undefined): void => {
    this.plan.place(id, startsAt);
  };
}

/**
 * A user with a job of tasks that never end, or with wrongly reported times, at a cluster that forgets its answers.
 */
class Week {
  readonly cluster = new Cluster();
  readonly own = new Map<number, PendingRequest>();
  readonly budget = new RequestBudget();
  readonly #rng: Prng;
  readonly #doubt: number;
  submissions = 0;
  withdrawals = 0;

  /** @param doubt by how much the reported mean may be too short, at most. */
  constructor(seed: string, doubt: number) {
    this.#rng = new Prng(seed);
    this.#doubt = doubt;
  }

  decide(now: number, trigger: 'own' | 'queue'): RequestDecision {
    const { plan } = this.cluster;
    const pending = [...this.own].map(([id, request]): PendingRequest => {
      const place = plan.waiting.get(id)?.startsAt;
      const isRunning = plan.running.has(id);
      return {
        ...request,
        status: isRunning ? 'running' : 'queued',
        startedAt: isRunning ? (plan.running.get(id)?.startsAt ?? 0) : 0,
        ...(place === undefined ? {} : { predictedStart: place }),
      };
    });
    const decision = finishHeuristic.draft(
      someFacts({
        now,
        trigger,
        pending,
        limits: {
          processors,
          requestsMax: 3,
          widthMax: processors,
          walltimeMax: 18 * hour,
          walltimeGranularity: minute,
        },
        budget: this.budget.leftAt(now),
        listing: { at: now, processorsFree: 0, requests: [] },
        queue: { profile: plan.profile, waitingCount: plan.waiting.size },
        demand: { pendingTasks: 500, processors: 1, deadline: undefined },
        taskTimes: { longest: 20 * minute, mean: 20 * minute - this.#rng.below(this.#doubt), count: 20 },
      }),
    );
    for (const { requestId } of decision.givenUp ?? []) {
      this.budget.noteWithdrawal(now);
      this.withdrawals += 1;
      this.own.delete(Number(requestId));
      this.cluster.end(Number(requestId), now);
    }
    for (const { width, walltime } of decision.drafts) {
      this.budget.noteSubmission(now);
      this.submissions += 1;
      const id = this.cluster.submit(width, walltime, now);
      this.own.set(id, { requestId: String(id), width, walltime, status: 'queued', startedAt: 0 });
    }
    return decision;
  }

  step(now: number): void {
    const { plan } = this.cluster;
    if (this.#rng.below(3) === 0)
      this.cluster.submit(1 + this.#rng.below(processors), minute * (1 + this.#rng.below(300)), now);
    for (const { id, startsAt = 0, walltime } of [...plan.running.values()]) {
      if (startsAt + walltime > now && (this.own.has(id) || this.#rng.below(12) > 0)) continue;
      this.cluster.end(id, now);
      this.own.delete(id);
    }
    this.decide(now, this.#rng.below(2) === 0 ? 'own' : 'queue');
    this.cluster.start(now);
  }
}

test('over a week of early ends and of task times that change each minute, no hour has more submissions or withdrawals than its budget', (t) => {
  for (const seed of ['one', 'two']) {
    const week = new Week(seed, 15 * minute);
    const counts: [number, number][] = [];
    for (let now = 0; now < 7 * 24 * hour; now += 5 * minute) {
      week.step(now);
      counts.push([week.submissions, week.withdrawals]);
      const [submissions, withdrawals] = counts.at(-13) ?? [0, 0];
      t.true(
        week.submissions - submissions <= requestBudget.submissions &&
          week.withdrawals - withdrawals <= requestBudget.withdrawals,
      );
    }
    t.true(week.submissions > 20, `${week.submissions} submissions`);
    t.true(week.withdrawals < week.submissions);
  }
});

test('if nothing happens it soon asks for nothing: no loop of submitting and withdrawing', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: processors }), fc.integer({ min: 1, max: 600 })), { maxLength: 15 }),
      fc.string(),
      (locals, seed) => {
        const week = new Week(seed, minute);
        for (const [width, minutes] of locals) week.cluster.submit(width, minutes * minute, 0);
        week.cluster.start(0);
        // Reported task times vary a little at each decision; plans must not follow every one of them.
        let wanted = 0;
        for (let i = 0; i < 30; i += 1) {
          const { drafts, givenUp = [] } = week.decide(0, 'own');
          week.cluster.start(0);
          if (i >= 10) wanted += drafts.length + givenUp.length;
        }
        return wanted <= 10;
      },
    ),
    { ...nightRuns, numRuns: 60 },
  );
  t.pass();
});
