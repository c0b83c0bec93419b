// However long tasks are, first requests that are kept small grow until they hold one, and are never many before.
import test from 'ava';
import fc from 'fast-check';
import { providerDefaults, type FirstRequestLimits } from '@mutirao/core/machines/provider';
import type { QueuedRequest } from '@mutirao/core/messages';
import { ProviderHarness, runs, WatchingHeuristic } from '@mutirao/testkit';

const minute = 60_000;
const hour = 60 * minute;
const walltimeMax = 24 * hour;

/** What a bag runs on. */
interface Plan {
  readonly heuristic: string;
  readonly firstRequests: FirstRequestLimits;
  readonly taskTime: number;
  readonly taskCount: number;
  readonly processors: number;
  readonly widthMax: number;
  readonly requestsMax: number;
  /** Whether agents tell how long tasks run. */
  readonly reportsAges: boolean;
}

/**
 * A first-come, first-served cluster without other users, and tasks of one run time, which begin again where a walltime
 * cuts them.
 */
class Cluster {
  readonly harness: ProviderHarness;
  requestCount = 0;
  waitingMost = 0;
  longestBeforeAnEnd = 0;
  left: number;
  readonly #plan: Plan;
  readonly #entries = new Map<string, QueuedRequest>();

  constructor(plan: Plan) {
    this.#plan = plan;
    this.left = plan.taskCount;
    const { heuristic, firstRequests, processors, requestsMax, widthMax } = plan;
    this.harness = new ProviderHarness({ ...providerDefaults, heuristic, firstRequests });
    this.harness.now = hour;
    this.harness.step([
      { kind: 'ProviderStarted', instance: 'i' },
      { kind: 'LimitsRead', limits: { processors, requestsMax, widthMax, walltimeMax, walltimeGranularity: minute } },
    ]);
    this.harness.perform(['connect b']);
  }

  /** Runs until every task has ended, or for so long. Answers whether they have. */
  run(duration: number): boolean {
    const until = this.harness.now + duration;
    this.#list();
    this.#demand();
    while (this.left > 0 && this.harness.now < until) {
      this.#startWhatFits();
      this.#list();
      this.harness.now += 10 * minute;
      this.#endWhatIsOver();
      this.#list();
      this.#demand();
    }
    return this.left <= 0;
  }

  #demand(): void {
    const covered = [...this.harness.state.requests.values()]
      .filter(({ status }) => status === 'running' || status === 'queued' || status === 'submitting')
      .reduce((sum, { width }) => sum + width, 0);
    this.#perform([`demand b ${this.left} unplaced=${Math.max(0, this.left - covered)}`]);
  }

  #perform(lines: readonly string[]): void {
    this.#receive(() => {
      this.harness.perform(lines);
    });
  }

  /** Takes each request that a step made into the queue. */
  #receive(step: () => void): void {
    const { harness } = this;
    const isKnown = [...harness.state.brokers.values()].some(({ taskTimes }) => taskTimes.count > 0);
    const received = harness.journal.length;
    step();
    for (const change of harness.journal.slice(received)) {
      if (change.kind !== 'RequestDrafted') continue;
      const { requestId, width, walltime } = change;
      this.requestCount += 1;
      if (!isKnown) this.longestBeforeAnEnd = Math.max(this.longestBeforeAnEnd, walltime);
      this.#entries.set(requestId, {
        managerRequestId: `m-${requestId}`,
        clientRequestId: `i.${requestId}`,
        userId: 'mutirao',
        width,
        walltime,
        status: 'queued',
        submittedAt: harness.now,
        startsAt: 0,
        endedAt: 0,
        endReason: '',
      });
      this.#perform([`accepted ${requestId}`]);
    }
    if (!isKnown)
      this.waitingMost = Math.max(
        this.waitingMost,
        [...this.#entries.values()].filter(({ status }) => status === 'queued').length,
      );
  }

  #free(): number {
    return [...this.#entries.values()]
      .filter(({ status }) => status === 'running')
      .reduce((free, { width }) => free - width, this.#plan.processors);
  }

  #startWhatFits(): void {
    for (const [requestId, entry] of this.#entries) {
      if (entry.status !== 'queued') continue;
      if (entry.width > this.#free()) return;
      this.#entries.set(requestId, { ...entry, status: 'running', startsAt: this.harness.now });
      this.#list();
      const { now } = this.harness;
      const machines = Array.from({ length: entry.width }, (_, index) => `${requestId}.${index}`);
      this.#perform(machines.map((machine) => `attach ${machine}`));
      if (this.#plan.reportsAges) this.#perform([`seen ${machines.map((machine) => `${machine}=${now}`).join(' ')}`]);
    }
  }

  #endWhatIsOver(): void {
    for (const [requestId, entry] of this.#entries) {
      const isReleased = this.harness.state.requests.get(requestId)?.releaseReason !== undefined;
      if (entry.status === 'running') this.#serve(requestId, entry, isReleased);
      else if (entry.status === 'queued' && isReleased) this.#end(requestId, entry);
    }
  }

  /** Counts the tasks that a running request has completed, once it ends. */
  #serve(requestId: string, entry: QueuedRequest, isReleased: boolean): void {
    const { taskTime } = this.#plan;
    const held = Math.min(this.harness.now - entry.startsAt, entry.walltime);
    const ended = Math.min(this.left, Math.floor(held / taskTime) * entry.width);
    if (held < entry.walltime && ended < this.left && !isReleased) return;
    if (ended > 0)
      this.#perform([
        `measured ${requestId} longest=${taskTime} total=${taskTime * ended} count=${ended} ` +
          `shortest=${taskTime} squares=${taskTime * taskTime * ended}`,
      ]);
    this.left -= ended;
    this.#end(requestId, entry);
  }

  #end(requestId: string, entry: QueuedRequest): void {
    this.#entries.set(requestId, { ...entry, status: 'ended', endedAt: this.harness.now });
  }

  #list(): void {
    const { now } = this.harness;
    this.#receive(() => {
      this.harness.step([
        {
          kind: 'QueueListed',
          listing: { at: now, processorsFree: this.#free(), requests: [...this.#entries.values()] },
          readAt: now,
        },
      ]);
    });
    this.#perform([`at ${now}`]);
  }
}

const anyPlan: fc.Arbitrary<Plan> = fc
  .record({
    heuristic: fc.constantFrom('initial', 'adaptive', 'finish'),
    firstRequests: fc.record({
      walltime: fc.integer({ min: 10 * minute, max: 2 * hour }),
      waitingMax: fc.integer({ min: 1, max: 3 }),
    }),
    taskTime: fc.integer({ min: minute, max: 10 * hour }),
    taskCount: fc.integer({ min: 1, max: 12 }),
    processors: fc.integer({ min: 1, max: 8 }),
    widthMax: fc.integer({ min: 1, max: 8 }),
    requestsMax: fc.integer({ min: 1, max: 10 }),
    reportsAges: fc.boolean(),
  })
  .map((plan) => ({ ...plan, widthMax: Math.min(plan.widthMax, plan.processors) }));

test('a bag of tasks of any run time that the resource allows ends by the growth of its first requests', (t) => {
  fc.assert(
    fc.property(anyPlan, (plan) => {
      const cluster = new Cluster(plan);
      if (!cluster.run(90 * 24 * hour))
        throw new Error(`${cluster.left} tasks are left after ${cluster.requestCount} requests`);
    }),
    runs(20_261_126, 20),
  );
  t.pass();
});

test('before a task has ended, few requests wait, and none is longer than four times what tasks take, or the first walltime', (t) => {
  fc.assert(
    fc.property(anyPlan, (plan) => {
      const cluster = new Cluster(plan);
      cluster.run(90 * 24 * hour);
      const { firstRequests, taskTime, processors, widthMax } = plan;
      const longest = Math.max(firstRequests.walltime, 4 * taskTime) + minute;
      const growth = Math.max(1, longest / firstRequests.walltime);
      const most = Math.ceil(processors / widthMax) + firstRequests.waitingMax * growth;
      if (cluster.longestBeforeAnEnd > longest)
        throw new Error(`${cluster.longestBeforeAnEnd} ms for tasks of ${taskTime} ms`);
      if (cluster.waitingMost > most) throw new Error(`${cluster.waitingMost} wait, ${most} may`);
    }),
    runs(20_261_127, 20),
  );
  t.pass();
});

test('no bound is below the run time that users state, where the resource gives it, nor beyond the resource', (t) => {
  const anyStated = fc.record({
    stated: fc.integer({ min: 1, max: 2 * walltimeMax }),
    walltime: fc.integer({ min: 1, max: walltimeMax }),
    granularity: fc.constantFrom(1, 1000, minute),
    given: fc.integer({ min: minute, max: walltimeMax }),
  });
  fc.assert(
    fc.property(anyStated, ({ stated, walltime, granularity, given }) => {
      const heuristic = new WatchingHeuristic();
      const harness = new ProviderHarness({
        heuristic: 'watching',
        findHeuristic: heuristic.find,
        firstRequests: { walltime, waitingMax: 1 },
      });
      harness.step([
        { kind: 'ProviderStarted', instance: 'i' },
        {
          kind: 'LimitsRead',
          limits: { processors: 4, requestsMax: 10, widthMax: 4, walltimeMax: given, walltimeGranularity: granularity },
        },
      ]);
      harness.perform(['connect b', 'listing', `demand b 9 stated=${stated}`]);
      const asked = [...harness.state.requests.values()];
      return (
        asked.length > 0 &&
        asked.every((request) => request.walltime >= Math.min(stated, given) && request.walltime <= given)
      );
    }),
    runs(20_261_128, 300),
  );
  t.pass();
});
