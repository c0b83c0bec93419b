// The order by scores against a reference that computes every R again at each decision, and its promise that nobody
// starves.
import test from 'ava';
import fc from 'fast-check';
import {
  bucRank,
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  getLead,
  replayByScores,
  RequestPlan,
  ResourceReplay,
  type BucOrder,
  type QueuePolicy,
  type ScoredTracedRequest,
} from '@mutirao/core/queue';
import {
  runs,
  slowEasy,
  slowReinsert,
  slowStartNow,
  slowStarts,
  startHeads,
  type SlowPolicy,
  type SlowRequest,
} from '@mutirao/testkit';

const capacity = 5;
const pairs: readonly (readonly [QueuePolicy, SlowPolicy])[] = [
  [
    firstComeFirstServed,
    (resource, now) => {
      startHeads(resource, now);
    },
  ],
  [easyBackfilling, slowEasy],
  [conservativeBackfilling('start-now'), slowStartNow],
  [conservativeBackfilling('reinsert'), slowReinsert],
];

const anyRequest = fc.record({
  gap: fc.constantFrom(0, 0, 0, 1, 2, 9),
  width: fc.integer({ min: 1, max: capacity }),
  walltime: fc.integer({ min: 1, max: 30 }),
  share: fc.integer({ min: 0, max: 8 }),
  userId: fc.constantFrom('ana', 'bia', 'caio'),
  hasOverrun: fc.boolean(),
});

function getTrace(
  requests: readonly (typeof anyRequest extends fc.Arbitrary<infer T> ? T : never)[],
): ScoredTracedRequest[] {
  let at = 0;
  return requests.map(({ gap, share, ...request }) => {
    at += gap;
    return {
      ...request,
      submittedAt: at,
      runTime: Math.max(1, Math.min(request.walltime, Math.ceil((request.walltime * share) / 4))),
    };
  });
}

/** What one instant of a small trace is: walltimes of 1 to 30 are then worth 20 to 0.7 points, and scores up to 80. */
const unit = 1_000_000;
/** Weights at which points and waiting are worth about as much. */
const anyOrder: fc.Arbitrary<BucOrder> = fc.record({
  weight: fc.constantFrom(20, 200, 2000),
  leadMax: fc.constantFrom(0, 5 * unit, 50 * unit, Infinity),
});
const scaled = (request: ScoredTracedRequest): ScoredTracedRequest => ({
  ...request,
  submittedAt: unit * request.submittedAt,
  walltime: unit * request.walltime,
  runTime: unit * request.runTime,
});

for (const [policy, slow] of pairs) {
  test(`under ${policy.name} by scores the starts are those of a reference that sorts by R at every decision`, (t) => {
    fc.assert(
      fc.property(fc.array(anyRequest, { minLength: 1, maxLength: 40 }).map(getTrace), anyOrder, (trace, order) => {
        const { requests } = replayByScores(policy, order, capacity, trace.map(scaled));
        type Queued = ScoredTracedRequest & SlowRequest;
        const worth = (request: Queued, now: number): number =>
          getLead(order, requests[request.id]?.scoreAtSubmission ?? 0, unit * request.walltime) +
          unit * (now - request.submittedAt);
        const sort = (queue: Queued[], now: number): void => {
          queue.sort((one, other) => worth(other, now) - worth(one, now) || one.id - other.id);
        };
        t.deepEqual(
          requests.map(({ startedAt }) => startedAt / unit),
          slowStarts(slow, capacity, trace, sort),
        );
      }),
      runs(20_261_124, 200),
    );
    t.pass();
  });

  test(`under ${policy.name} a copy of a plan with ranks goes on as the plan does`, (t) => {
    fc.assert(
      fc.property(
        fc.array(anyRequest, { minLength: 2, maxLength: 30 }),
        fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 30, maxLength: 30 }),
        (requests, ranks) => {
          const one = new ResourceReplay(policy, new RequestPlan(capacity, 0));
          requests.forEach(({ width, walltime }, id) => {
            one.submit({ id, width, walltime, runTime: walltime, rank: ranks[id] ?? 0 }, 0);
          });
          one.startDue(0);
          const other = one.clone();
          while (one.nextInstant < Infinity) {
            const now = one.nextInstant;
            t.is(other.nextInstant, now);
            t.deepEqual(one.endDue(now), other.endDue(now));
            t.deepEqual(
              one.startDue(now).map(({ id }) => id),
              other.startDue(now).map(({ id }) => id),
            );
          }
          t.is(one.plan.waiting.size, 0);
        },
      ),
      runs(20_261_125, 100),
    );
  });

  test(`under ${policy.name} by scores no new request goes before one that has waited for the longest lead, which then starts within a bound, whatever arrives`, (t) => {
    let overtaken = 0;
    fc.assert(
      fc.property(
        fc.array(anyRequest, { minLength: 1, maxLength: 25 }).map(getTrace),
        fc.integer({ min: 1, max: capacity }),
        (before, width) => {
          const flood = new Flood(policy, before, width);
          while (flood.startedAt === undefined && flood.broken === '') flood.pass();
          t.is(flood.broken, '');
          if ((flood.firstAheadCount ?? 0) > capacity) overtaken += 1;
        },
      ),
      runs(20_261_126, 40),
    );
    // Otherwise nothing is shown.
    t.true(overtaken >= 20, `${overtaken} were overtaken`);
  });
}

/**
 * Who has the worst score and the longest walltime, among requests of a middling one, before a flood of the best and
 * shortest that would fill the machine for ever.
 */
class Flood {
  readonly policy: QueuePolicy;
  readonly resource: ResourceReplay;
  readonly before: readonly ScoredTracedRequest[];
  /**
   * In instants, as all times here; in the core an instant is `unit`, so that scores are worth up to 80 instants, and
   * walltimes 20 to 0.7.
   */
  readonly leadMax = 60;
  readonly walltimeMax = 30;
  readonly poorId: number;
  readonly submittedAt: number;
  readonly width: number;
  startedAt: number | undefined;
  now = 0;
  #nextId = 0;
  /** Those ahead of it that wait; not known before it has waited for `leadMax`. */
  aheadCount: number | undefined;
  firstAheadCount: number | undefined;
  /** By when it must start, from then on. */
  #bound = Infinity;
  broken = '';

  constructor(policy: QueuePolicy, before: readonly ScoredTracedRequest[], width: number) {
    this.policy = policy;
    this.before = before;
    this.width = width;
    this.poorId = before.length;
    this.submittedAt = before.at(-1)?.submittedAt ?? 0;
    this.resource = new ResourceReplay(policy, new RequestPlan(capacity, 0));
  }

  /** One instant. */
  pass(): void {
    const { now, resource, submittedAt } = this;
    for (const { walltime, runTime, ...request } of this.before)
      if (request.submittedAt === now) this.#submit(request.width, walltime, runTime, 50);
    if (now === submittedAt) this.#submit(this.width, this.walltimeMax, this.walltimeMax, 0);
    if (now >= submittedAt)
      for (let index = 0; index < capacity; index += 1)
        this.#submit(1, 1 + ((index + now) % 3), 1 + ((index + now) % 3), 100);
    resource.endDue(now * unit);
    if (resource.startDue(now * unit).some(({ id }) => id === this.poorId)) this.startedAt = now;
    this.#check();
    this.now += 1;
  }

  #submit(width: number, walltime: number, runTime: number, score: number): void {
    const submittedAt = this.now * unit;
    const rank = bucRank(
      { weight: 1000, leadMax: this.leadMax * unit },
      { score, walltime: walltime * unit, submittedAt },
    );
    this.resource.submit(
      { id: this.#nextId, width, walltime: walltime * unit, runTime: runTime * unit, rank },
      submittedAt,
    );
    this.#nextId += 1;
  }

  #check(): void {
    const {
      now,
      resource: { plan },
      poorId,
    } = this;
    if (now > this.#bound) this.broken = `it should have started by ${this.#bound}`;
    if (now < this.submittedAt + this.leadMax || this.startedAt !== undefined) return;
    const aheadCount = [...plan.waiting.keys()].indexOf(poorId);
    const place = plan.waiting.get(poorId)?.startsAt ?? Infinity;
    if (aheadCount > (this.aheadCount ?? Infinity))
      this.broken = `${aheadCount} are ahead at ${now}, ${this.aheadCount} were`;
    this.firstAheadCount ??= aheadCount;
    this.aheadCount = aheadCount;
    // Where it has a place, that is a promise now.
    this.#bound = Math.min(
      this.#bound,
      this.policy.promises ? place / unit : now + (aheadCount + 1) * this.walltimeMax,
    );
  }
}

for (const compression of ['start-now', 'reinsert'] as const) {
  test(`under conservative ${compression} by ranks a place is delayed only by a later request that goes before`, (t) => {
    fc.assert(
      fc.property(
        fc.array(anyRequest, { minLength: 2, maxLength: 30 }).map(getTrace),
        fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 30, maxLength: 30 }),
        (trace, ranks) => {
          const resource = new ResourceReplay(conservativeBackfilling(compression), new RequestPlan(capacity, 0));
          const { plan } = resource;
          const findRank = (id: number): number => ranks[id] ?? 0;
          const places = (): Map<number, number> =>
            new Map([...plan.waiting.values()].map(({ id, startsAt }) => [id, startsAt ?? Infinity]));
          const isKept = (former: Map<number, number>, mayMove: (id: number) => boolean): boolean =>
            [...former].every(([id, place]) => mayMove(id) || (plan.waiting.get(id)?.startsAt ?? place) <= place);
          for (let now = 0, id = 0; id < trace.length || resource.nextInstant < Infinity; now += 1) {
            for (let request = trace[id]; request?.submittedAt === now; request = trace[id]) {
              const former = places();
              resource.submit({ id, ...request, rank: findRank(id) }, now);
              // Those that are due keep their place, whoever comes.
              if (!isKept(former, (other) => findRank(other) > findRank(id) && (former.get(other) ?? 0) > now))
                return false;
              id += 1;
            }
            const former = places();
            resource.endDue(now);
            if (!isKept(former, () => false)) return false;
            resource.startDue(now);
          }
          return plan.waiting.size + plan.running.size === 0;
        },
      ),
      runs(20_261_127, 150),
    );
    t.pass();
  });
}
