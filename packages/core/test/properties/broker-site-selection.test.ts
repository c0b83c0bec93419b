import test from 'ava';
import fc from 'fast-check';
import {
  type BrokerChange,
  type BrokerInput,
  brokerMachine,
  type BrokerState,
  createBrokerState,
  defaultBrokerOptions,
  restore,
  resume,
  snapshot,
} from '@mutirao/core/machines/broker';
import type { ResourceStatus } from '@mutirao/core/messages';
import { QueueModel } from '@mutirao/core/site-selection';
import { aJob, runs } from '@mutirao/testkit';

const names = ['a', 'b', 'c', 'd', 'e'];

/** What is wrong with a resource now and then. */
type Fault = 'none' | 'none' | 'draining' | 'unread' | 'stale' | 'unknown';

interface Reported {
  readonly size: number;
  readonly widthMax: number;
  readonly fault: Fault;
  readonly queue: readonly { readonly width: number; readonly walltime: number }[];
}

type Event =
  | { readonly kind: 'tell'; readonly which: number; readonly reported: Reported }
  | { readonly kind: 'away' | 'back'; readonly which: number }
  | {
      readonly kind: 'submit';
      readonly width: number;
      readonly count: number;
      readonly percent: number;
      readonly strategy: string;
    }
  | { readonly kind: 'cancel'; readonly which: number }
  | { readonly kind: 'pass'; readonly time: number }
  | { readonly kind: 'restart' };

const which = fc.nat({ max: 4 });
const reported: fc.Arbitrary<Reported> = fc.record({
  size: fc.integer({ min: 1, max: 40 }),
  widthMax: fc.integer({ min: 1, max: 40 }),
  fault: fc.constantFrom<Fault>('none', 'none', 'none', 'draining', 'unread', 'stale', 'unknown'),
  queue: fc.array(fc.record({ width: fc.integer({ min: 1, max: 8 }), walltime: fc.integer({ min: 1, max: 5000 }) }), {
    maxLength: 4,
  }),
});
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('tell' as const), which, reported }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('away' as const, 'back' as const), which }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      width: fc.integer({ min: 1, max: 42 }),
      count: fc.integer({ min: 1, max: 6 }),
      percent: fc.constantFrom(0, 10, 30, 50, 80, 100),
      strategy: fc.constantFrom('random', 'min-lp', 'min-pl', 'min-lbal', 'min-lb', 'min-ct', 'min-wwt', 'min-st'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), time: fc.constantFrom(1, 1000, 20_000, 700_000) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
);

type SiteAssignment = Extract<BrokerChange, { kind: 'TasksAssigned' }>['assignments'][number];

/** A broker among five clusters, and what each of these said last. */
class Grid {
  readonly options = { siteSelection: { ...defaultBrokerOptions.siteSelection, aheadMax: 5, decisionsMax: 7 } };
  state: BrokerState = createBrokerState(this.options);
  now = 1_000_000;
  readonly changes: BrokerChange[] = [];
  readonly statuses = new Map<string, ResourceStatus>();
  dispatchedCount = 0;

  constructor(count: number) {
    for (const providerId of names.slice(0, count))
      this.step([
        { kind: 'ProviderAdded', replyTo: 0, providerId, address: 'h:1' },
        { kind: 'ProviderConnected', providerId, reportsResource: true },
      ]);
  }

  happen(what: Event): void {
    switch (what.kind) {
      case 'tell':
        return this.#report(what.reported, names[what.which]!);
      case 'away':
        return this.#away(names[what.which]!);
      case 'back':
        this.statuses.delete(names[what.which]!);
        return this.step([{ kind: 'ProviderConnected', providerId: names[what.which]!, reportsResource: true }]);
      case 'submit':
        return this.step([
          {
            kind: 'JobSubmitted',
            replyTo: 0,
            userId: 'ann',
            clientJobId: '',
            spec: aJob(what.count, {
              processors: what.width,
              gang: true,
              replicasMax: 1,
              siteSelection: `${what.strategy}:${what.percent / 100}`,
            }),
          },
        ]);
      case 'cancel':
        return this.step([{ kind: 'JobCancelled', replyTo: 0, userId: 'ann', jobId: what.which, reason: '' }]);
      case 'pass':
        this.now += what.time;
        return this.step([{ kind: 'TimerFired' }]);
      case 'restart':
        return this.#restart();
    }
  }

  #report({ size, widthMax, fault, queue }: Reported, providerId: string): void {
    if (this.state.providers.get(providerId)?.isConnected !== true) return;
    const book = new QueueModel(size);
    for (const [id, entry] of queue.entries())
      book.add(id, { width: Math.min(size, entry.width), walltime: entry.walltime, submittedAt: 0 }, 0);
    const facts = {
      processors: size,
      widthMax: Math.min(size, widthMax),
      isTimeShared: false,
      isDraining: fault === 'draining',
    };
    const resourceStatus: ResourceStatus =
      fault === 'unknown'
        ? { ...facts, processors: 0, widthMax: 0 }
        : fault === 'unread'
          ? facts
          : {
              ...facts,
              queue: { age: fault === 'stale' ? 500_000 : 0, trouble: '', ownWork: 0, known: book.summarize(0) },
            };
    this.statuses.set(providerId, resourceStatus);
    this.step([
      { kind: 'ResourceReported', providerId, resourceStatus },
      { kind: 'ProviderSynced', providerId },
    ]);
  }

  #away(providerId: string): void {
    this.statuses.delete(providerId);
    this.step([{ kind: 'ProviderDisconnected', providerId, reason: 'gone' }]);
  }

  #restart(): void {
    this.statuses.clear();
    const written = snapshot(this.state);
    this.state = restore(written, this.options);
    if (snapshot(this.state) !== written) throw new Error('a snapshot of what was restored is another one');
    resume(this.state, this.now);
  }

  step(inputs: readonly BrokerInput[]): void {
    const before = new Map(
      [...this.state.openJobs.values()].flatMap(({ jobId, assigned }) =>
        [...assigned].map(([index, place]) => [`${jobId}.${index}`, place] as const),
      ),
    );
    const { changes } = brokerMachine.step(this.state, inputs, this.now);
    brokerMachine.checkInvariants(this.state);
    this.changes.push(...changes);
    for (const change of changes) {
      if (change.kind !== 'TasksAssigned') continue;
      for (const assignment of change.assignments)
        this.#check(
          change.jobId,
          assignment,
          before.get(`${change.jobId}.${assignment.taskIndex}`)?.provider.providerId,
        );
    }
  }

  #check(jobId: number, { taskIndex, providerId, reason }: SiteAssignment, former: string | undefined): void {
    const { spec } = this.state.jobs.get(jobId)!;
    const name = `task ${taskIndex} of job ${jobId}`;
    this.dispatchedCount += 1;
    if (providerId === former) throw new Error(`${name} is assigned twice at ${providerId}`);
    if (former !== undefined && this.#isGood(former, spec!.processors) && !isForSoonerStart(reason))
      throw new Error(`${name} is moved for nothing: ${JSON.stringify(reason)}`);
    const admissible = this.#admissible(spec!.processors, Number(spec!.siteSelection!.split(':')[1]));
    // It has no place any more where nothing that would do is known, and somebody has told nothing.
    if (providerId === '' && admissible.length === 0) return;
    if (!admissible.includes(providerId))
      throw new Error(`${providerId} is not admissible, of ${admissible.join(', ')}: ${reason}`);
  }

  #isGood(providerId: string, width: number): boolean {
    const resourceStatus = this.statuses.get(providerId);
    const provider = this.state.providers.get(providerId)!;
    // Not told of since a restart, or away for less than its grace.
    if (resourceStatus === undefined)
      return provider.awaySince === undefined || this.now < provider.awaySince + this.state.options.suspectGrace;
    return resourceStatus.processors === 0 || (!resourceStatus.isDraining && resourceStatus.widthMax >= width);
  }

  /** By the definition: of those that are wide enough the least that have the share together. */
  #admissible(width: number, a: number): string[] {
    const known = [...this.statuses].filter(([, { isDraining, widthMax }]) => !isDraining && widthMax >= width);
    const order = (name: string): number => names.indexOf(name);
    known.sort(
      ([one, { processors }], [other, { processors: more }]) => processors - more || order(one) - order(other),
    );
    const total = known.reduce((sum, [, { processors }]) => sum + processors, 0);
    const admissible: string[] = [];
    let sum = 0;
    for (const [name, { processors }] of known) {
      admissible.push(name);
      sum += processors;
      // In whole numbers of per cent, so that nothing is rounded.
      if (100 * sum >= Math.round(100 * a) * total) break;
    }
    return admissible;
  }
}

test('whatever providers report, tasks are assigned to admissible resources only, each to one, stay where they can, and a snapshot keeps it', (t) => {
  let dispatchedCount = 0;
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(event, { minLength: 5, maxLength: 50, size: 'max' }),
      (count, all) => {
        const grid = new Grid(count);
        for (const what of all) if (!('which' in what) || what.which < count) grid.happen(what);
        // Replay alone gives the same places.
        const replayed = createBrokerState(grid.options);
        for (const change of grid.changes) brokerMachine.apply(replayed, change);
        for (const [jobId, { assigned }] of grid.state.jobs) {
          t.deepEqual(
            [...replayed.jobs.get(jobId)!.assigned].map(([index, { provider }]) => [index, provider.providerId]),
            [...assigned].map(([index, { provider }]) => [index, provider.providerId]),
          );
        }
        dispatchedCount += grid.dispatchedCount;
      },
    ),
    runs(20_100_105, 400),
  );
  t.true(dispatchedCount > 500, `${dispatchedCount} assignments`);
});

function isForSoonerStart(reason: SiteAssignment['reason']): boolean {
  return typeof reason !== 'string' && reason.code === 'site-starts-sooner';
}
