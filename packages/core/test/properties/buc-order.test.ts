// The order by scores against a reference that computes every R anew at each decision, and its promise that nobody starves.
import test from 'ava';
import fc from 'fast-check';
import {
  bucRank, easyBackfilling, firstComeFirstServed, leadOf, replayByScores, RequestPlan, ResourceReplay, type BucOrder, type QueuePolicy, type ScoredTracedRequest,
} from '@mutirao/core/queue';
import { runs, slowEasy, slowStarts, startHeads, type SlowPolicy, type SlowRequest } from '@mutirao/testkit';

const capacity = 5;
const pairs: readonly (readonly [QueuePolicy, SlowPolicy])[] = [[firstComeFirstServed, (resource, now) => { startHeads(resource, now); }], [easyBackfilling, slowEasy]];

const anyRequest = fc.record({
  gap: fc.constantFrom(0, 0, 0, 1, 2, 9), width: fc.integer({ min: 1, max: capacity }), walltime: fc.integer({ min: 1, max: 30 }), share: fc.integer({ min: 0, max: 8 }),
  userId: fc.constantFrom('ana', 'bia', 'caio'), hasOverrun: fc.boolean(),
});

function traceOf(requests: readonly (typeof anyRequest extends fc.Arbitrary<infer T> ? T : never)[]): ScoredTracedRequest[] {
  let at = 0;
  return requests.map(({ gap, share, ...request }) => {
    at += gap;
    return { ...request, submittedAt: at, runTime: Math.max(1, Math.min(request.walltime, Math.ceil((request.walltime * share) / 4))) };
  });
}

/** What one instant of a small trace is: walltimes of 1 to 30 are then worth 20 to 0.7 points, and scores up to 80. */
const unit = 1_000_000;
/** Weights at which points and waiting are worth about as much. */
const anyOrder: fc.Arbitrary<BucOrder> = fc.record({ weight: fc.constantFrom(20, 200, 2000), leadMax: fc.constantFrom(0, 5 * unit, 50 * unit, Infinity) });
const scaled = (request: ScoredTracedRequest): ScoredTracedRequest => ({ ...request, submittedAt: unit * request.submittedAt, walltime: unit * request.walltime, runTime: unit * request.runTime });

for (const [policy, slow] of pairs) {
  test(`under ${policy.name} by scores the starts are those of a reference that sorts by R at every decision`, (t) => {
    fc.assert(fc.property(fc.array(anyRequest, { minLength: 1, maxLength: 40 }).map(traceOf), anyOrder, (trace, order) => {
      const { requests } = replayByScores(policy, order, capacity, trace.map(scaled));
      type Queued = ScoredTracedRequest & SlowRequest;
      const worth = (request: Queued, now: number): number => leadOf(order, requests[request.id]?.scoreAtSubmission ?? 0, unit * request.walltime) + unit * (now - request.submittedAt);
      const sort = (queue: Queued[], now: number): void => { queue.sort((one, other) => worth(other, now) - worth(one, now) || one.id - other.id); };
      t.deepEqual(requests.map(({ startedAt }) => startedAt / unit), slowStarts(slow, capacity, trace, sort));
    }), runs(20_261_124, 200));
    t.pass();
  });

  test(`under ${policy.name} a copy of a plan with ranks goes on as the plan does`, (t) => {
    fc.assert(fc.property(fc.array(anyRequest, { minLength: 2, maxLength: 30 }), fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 30, maxLength: 30 }), (requests, ranks) => {
      const one = new ResourceReplay(policy, new RequestPlan(capacity, 0));
      requests.forEach(({ width, walltime }, id) => { one.submit({ id, width, walltime, runTime: walltime, rank: ranks[id] ?? 0 }, 0); });
      one.startDue(0);
      const other = one.clone();
      while (one.nextInstant < Infinity) {
        const now = one.nextInstant;
        t.is(other.nextInstant, now);
        t.deepEqual(one.endDue(now), other.endDue(now));
        t.deepEqual(one.startDue(now).map(({ id }) => id), other.startDue(now).map(({ id }) => id));
      }
      t.is(one.plan.waiting.size, 0);
    }), runs(20_261_125, 100));
  });

  test(`under ${policy.name} by scores every request starts within a bound once it has waited for the longest lead, whatever arrives after`, (t) => {
    const walltimeMax = 30;
    const order: BucOrder = { weight: 1e-3, leadMax: 60 };
    fc.assert(fc.property(fc.array(anyRequest, { minLength: 1, maxLength: 25 }).map(traceOf), fc.integer({ min: 1, max: capacity }), (before, width) => {
      const poor = { width, walltime: walltimeMax, runTime: walltimeMax, submittedAt: before.at(-1)?.submittedAt ?? 0, userId: 'poor', hasOverrun: false };
      const resource = new ResourceReplay(policy, new RequestPlan(capacity, 0));
      const starts = new Map<number, number>();
      let id = 0;
      // The worst score, ahead of a flood of the best ones that fills the machine for ever.
      const trace = [...before.map((request) => ({ ...request, score: 50 })), { ...poor, score: 0 }];
      const poorId = before.length;
      let aheadCount = Infinity;
      for (let now = 0; !starts.has(poorId); now += 1) {
        const due = trace.filter(({ submittedAt }) => submittedAt === now);
        const flood = now < poor.submittedAt ? [] : Array.from({ length: capacity }, () => ({ width: 1, walltime: 1 + (id % 3), runTime: 1 + (id % 3), score: 100 }));
        for (const request of [...due, ...flood]) {
          const { score, width: wide, walltime, runTime } = request;
          // Numbers of the trace come first only as long as there is no flood, which begins with the poor one's instant.
          resource.submit({ id, width: wide, walltime, runTime, rank: bucRank(order, { score, walltime, submittedAt: now }) }, now);
          id += 1;
        }
        resource.endDue(now);
        for (const started of resource.startDue(now)) starts.set(started.id, now);
        if (now === poor.submittedAt + order.leadMax) aheadCount = [...resource.plan.waiting.keys()].indexOf(poorId);
        const bound = poor.submittedAt + order.leadMax + (aheadCount + 1) * walltimeMax;
        if (now > bound) return false;
      }
      return true;
    }), runs(20_261_126, 100));
    t.pass();
  });
}
