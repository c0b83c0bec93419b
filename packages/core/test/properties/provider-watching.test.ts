import test from 'ava';
import fc from 'fast-check';
import {
  takeSnapshot,
  isPending,
  restoreSnapshot,
  type ProviderChange,
  type ProviderCommand,
  type ProviderConfig,
  type ProviderInput,
  type ProviderSnapshot,
} from '@mutirao/core/machines/provider';
import type { QueuedRequest, ResourceLimits } from '@mutirao/core/messages';
import { ProviderHarness, runs } from '@mutirao/testkit';

const hour = 3_600_000;
const perHour = { submissions: 6, withdrawals: 2 };

type Act =
  | { readonly kind: 'demand'; readonly tasks: number; readonly gang: number; readonly elsewhere: number }
  | { readonly kind: 'answer'; readonly outcome: 'accepted' | 'refused' | 'lost' }
  | {
      readonly kind: 'local';
      readonly width: number;
      readonly walltime: number;
      readonly startsAt: number;
      readonly isRunning: boolean;
    }
  | { readonly kind: 'limits'; readonly requestsMax: number; readonly widthMax: number; readonly walltimeMax: number }
  | { readonly kind: 'measured'; readonly time: number; readonly count: number }
  | { readonly kind: 'list' | 'fail' | 'restart' | 'leave' | 'start' | 'finish' | 'release' | 'attach' | 'garble' }
  | { readonly kind: 'wait'; readonly time: number };

/** A resource that takes what it is asked for, beside local users whose entries may make no sense. */
class World {
  readonly harness: ProviderHarness;
  readonly truth = new Map<string, QueuedRequest>();
  readonly drafted: Extract<ProviderChange, { kind: 'RequestDrafted' }>[] = [];
  readonly givenUp: Extract<ProviderChange, { kind: 'RequestReleasing' }>[] = [];
  private readonly calls: (ProviderCommand & { kind: 'SubmitRequest' })[] = [];
  private readonly releases: (ProviderCommand & { kind: 'ReleaseRequest' })[] = [];
  private limits: ResourceLimits = {
    processors: 8,
    requestsMax: 3,
    widthMax: 8,
    walltimeMax: 2 * hour,
    walltimeGranularity: 1000,
  };
  private localCount = 0;
  private attachmentId = 0;
  private connectionId = 0;
  private receivedCount = 0;

  constructor(config: Partial<ProviderConfig>) {
    this.harness = new ProviderHarness({ heuristic: 'finish', perHour, ...config });
    this.deliver({ kind: 'ProviderStarted', instance: 'i' }, { kind: 'LimitsRead', limits: this.limits });
    this.connect();
  }

  deliver(...inputs: ProviderInput[]): void {
    const commands = this.harness.step(inputs);
    for (const change of this.harness.journal.slice(this.receivedCount)) {
      if (change.kind === 'RequestDrafted') this.onDraft(change);
      if (change.kind === 'RequestReleasing' && change.isGivenUp === true) this.givenUp.push(change);
    }
    this.receivedCount = this.harness.journal.length;
    for (const command of commands) {
      if (command.kind === 'SubmitRequest') this.calls.push(command);
      else if (command.kind === 'ReleaseRequest') this.releases.push(command);
    }
  }

  private onDraft(change: Extract<ProviderChange, { kind: 'RequestDrafted' }>): void {
    const { width, walltime, requestId } = change;
    const { limits } = this;
    const isWithin = width >= 1 && width <= limits.widthMax && walltime >= 1 && walltime <= limits.walltimeMax;
    if (!isWithin)
      throw new Error(
        `${requestId} asks for ${width} processors for ${walltime} ms; the resource gives ${limits.widthMax} ` +
          `for ${limits.walltimeMax} ms`,
      );
    const pendingCount = [...this.harness.state.requests.values()].filter(isPending).length;
    if (pendingCount > Math.max(limits.requestsMax, this.harness.state.requestsMaxSeen))
      throw new Error(`${pendingCount} requests are pending`);
    this.drafted.push(change);
  }

  connect(): void {
    this.connectionId += 1;
    this.deliver({ kind: 'BrokerConnected', brokerId: 'b', connectionId: this.connectionId });
  }

  demand(tasks: number, gang = 0, elsewhere = 0): void {
    const taskTimes =
      elsewhere === 0
        ? {}
        : {
            taskTimes: { count: 5, censoredCount: 0, median: elsewhere, ninetieth: elsewhere, ninetyNinth: elsewhere },
          };
    this.deliver({
      kind: 'DemandChanged',
      brokerId: 'b',
      demand: {
        pendingTasks: tasks,
        processors: 1,
        taskTimeMax: undefined,
        taskTimeMean: undefined,
        deadline: undefined,
        userId: 'ana',
        ...(gang === 0 ? {} : { gangProcessors: gang }),
        ...taskTimes,
      },
    });
  }

  act(act: Act): void {
    switch (act.kind) {
      case 'demand':
        this.demand(act.tasks, act.gang, act.elsewhere);
        break;
      case 'answer':
        this.answer(act.outcome);
        break;
      case 'local':
        this.addLocal(act);
        break;
      case 'limits':
        this.limits = {
          ...this.limits,
          requestsMax: act.requestsMax,
          widthMax: act.widthMax,
          walltimeMax: act.walltimeMax,
        };
        this.deliver({ kind: 'LimitsRead', limits: this.limits });
        break;
      case 'measured':
        this.measure(act.time, act.count);
        break;
      case 'list':
        this.list();
        break;
      case 'fail':
        this.deliver({ kind: 'QueueReadFailed', reason: 'hung' });
        break;
      case 'restart':
        this.restart();
        break;
      case 'leave':
        this.alterLocal();
        break;
      case 'start':
        this.alter('queued', (entry) => ({ ...entry, status: 'running', startsAt: this.harness.now }));
        break;
      case 'finish':
        this.alter('running', (entry) => ({ ...entry, status: 'ended', endedAt: this.harness.now }));
        break;
      case 'garble':
        this.alter('running', (entry) => ({ ...entry, startsAt: -1, walltime: Number.NaN }));
        break;
      case 'release':
        this.returnToQueue();
        break;
      case 'attach':
        this.attach();
        break;
      case 'wait':
        this.wait(act.time);
        break;
    }
  }

  private answer(outcome: 'accepted' | 'refused' | 'lost'): void {
    const call = this.calls.shift();
    if (call === undefined) return;
    const { requestId, clientRequestId, width, walltime } = call;
    const managerRequestId = `m-${requestId}`;
    if (outcome !== 'refused')
      this.truth.set(managerRequestId, {
        ...aLocal,
        managerRequestId,
        clientRequestId,
        userId: 'ana',
        width,
        walltime,
        submittedAt: this.harness.now,
      });
    if (outcome === 'accepted') this.deliver({ kind: 'SubmitAccepted', requestId, managerRequestId });
    else if (outcome === 'refused') this.deliver({ kind: 'SubmitRefused', requestId, reason: 'full' });
    else this.deliver({ kind: 'SubmitUnknown', requestId, reason: 'deadline' });
  }

  private addLocal({ width, walltime, startsAt, isRunning }: Extract<Act, { kind: 'local' }>): void {
    this.localCount += 1;
    const managerRequestId = `l${this.localCount}`;
    this.truth.set(managerRequestId, {
      ...aLocal,
      managerRequestId,
      width,
      walltime,
      startsAt: isRunning ? Math.min(startsAt, this.harness.now) : startsAt,
      status: isRunning ? 'running' : 'queued',
    });
  }

  private alterLocal(): void {
    const local = [...this.truth.values()].find(({ userId, status }) => userId === 'local' && status !== 'ended');
    if (local !== undefined)
      this.truth.set(local.managerRequestId, { ...local, status: 'ended', endedAt: this.harness.now });
  }

  private alter(status: QueuedRequest['status'], change: (entry: QueuedRequest) => QueuedRequest): void {
    const entry = [...this.truth.values()].find((one) => one.status === status && one.userId === 'ana');
    if (entry !== undefined) this.truth.set(entry.managerRequestId, change(entry));
  }

  private measure(time: number, count: number): void {
    const running = [...this.harness.state.requests.values()].find(({ status }) => status === 'running');
    if (running === undefined) return;
    this.deliver({
      kind: 'TasksMeasured',
      requestId: running.requestId,
      longest: time,
      total: time * count,
      count,
      shortest: time,
      squares: time * time * count,
    });
  }

  private attach(): void {
    const request = [...this.harness.state.requests.values()].find(
      ({ status, releaseReason }) => status === 'running' && releaseReason === undefined,
    );
    if (request === undefined) return;
    this.attachmentId += 1;
    const machineId = `p/${request.requestId}.0`;
    const facts = {
      machineId,
      incarnation: String(this.attachmentId),
      processors: 1,
      attributes: {},
      until: undefined,
      requestId: request.requestId,
    };
    this.deliver(
      { kind: 'AgentAttached', attachmentId: this.attachmentId, heldReplicaIds: [], facts },
      { kind: 'TasksSeen', machines: [[machineId, this.harness.now]] },
    );
  }

  returnToQueue(): void {
    const release = this.releases.shift();
    if (release === undefined) return;
    const entry = this.truth.get(release.managerRequestId);
    if (entry !== undefined && entry.status !== 'ended')
      this.truth.set(release.managerRequestId, { ...entry, status: 'ended', endedAt: this.harness.now });
    this.deliver({ kind: 'ReleaseDone', requestId: release.requestId });
  }

  list(): void {
    const requests = [...this.truth.values()];
    const held = requests
      .filter(({ status }) => status === 'running')
      .reduce((sum, { width }) => sum + Math.max(0, width), 0);
    this.deliver({
      kind: 'QueueListed',
      listing: { at: this.harness.now, processorsFree: Math.max(0, 8 - held), requests },
      readAt: this.harness.now,
    });
  }

  private restart(): void {
    this.calls.splice(0);
    this.releases.splice(0);
    this.deliver(this.harness.restart());
    this.connect();
  }

  wait(time: number): void {
    this.harness.now += time;
    const { wakeAt } = this.harness.state;
    if (wakeAt > 0 && wakeAt <= this.harness.now) this.deliver({ kind: 'TimerFired' });
  }

  /**
   * From now on nothing happens for so long but that calls are answered and the queue is read, in which nothing starts.
   */
  standStill(time: number): void {
    const until = this.harness.now + time;
    for (const entry of this.truth.values())
      if (entry.status === 'running' && entry.userId === 'ana')
        this.truth.set(entry.managerRequestId, { ...entry, status: 'ended', endedAt: this.harness.now });
    this.addLocal({ kind: 'local', width: 8, walltime: 2 * time, startsAt: this.harness.now, isRunning: true });
    while (this.harness.now < until) {
      while (this.calls.length > 0) this.answer('accepted');
      while (this.releases.length > 0) this.returnToQueue();
      this.list();
      this.wait(10 * 60_000);
    }
  }
}

const aLocal: QueuedRequest = {
  managerRequestId: '',
  clientRequestId: '',
  userId: 'local',
  width: 1,
  walltime: 1,
  status: 'queued',
  submittedAt: 1,
  startsAt: 0,
  endedAt: 0,
  endReason: '',
};

const anyTime = fc.oneof(fc.integer({ min: 0, max: 6 * hour }), fc.constantFrom(-1, -hour, 0, Number.NaN));
const anyAct: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    kind: fc.constant('demand' as const),
    tasks: fc.nat(200),
    gang: fc.constantFrom(0, 0, 0, 4, 9),
    elsewhere: fc.constantFrom(0, 0, 1, 30_000),
  }),
  fc.record({
    kind: fc.constant('answer' as const),
    outcome: fc.constantFrom(
      'accepted' as const,
      'accepted' as const,
      'accepted' as const,
      'refused' as const,
      'lost' as const,
    ),
  }),
  fc.record({
    kind: fc.constant('local' as const),
    width: fc.integer({ min: -1, max: 12 }),
    walltime: anyTime,
    startsAt: anyTime,
    isRunning: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('limits' as const),
    requestsMax: fc.integer({ min: 0, max: 4 }),
    widthMax: fc.integer({ min: 1, max: 8 }),
    walltimeMax: fc.constantFrom(10 * 60_000, hour, 2 * hour),
  }),
  fc.record({
    kind: fc.constant('measured' as const),
    time: fc.constantFrom(0, 1, 1000, 60_000, hour),
    count: fc.integer({ min: 1, max: 40 }),
  }),
  fc.record({
    kind: fc.constantFrom(
      'list' as const,
      'list' as const,
      'fail' as const,
      'restart' as const,
      'leave' as const,
      'start' as const,
      'finish' as const,
      'release' as const,
      'attach' as const,
    ),
  }),
  // Most of what is to be seen needs requests that run.
  fc.record({
    kind: fc.constantFrom(
      'start' as const,
      'start' as const,
      'attach' as const,
      'list' as const,
      'list' as const,
      'finish' as const,
      'garble' as const,
    ),
  }),
  fc.record({ kind: fc.constant('wait' as const), time: fc.integer({ min: 1, max: hour / 4 }) }),
);

const nightRuns = runs(20_261_123, 150);
const anyActs = fc.array(anyAct, { maxLength: 50, size: 'max' });

function play(acts: readonly Act[], config: Partial<ProviderConfig> = {}): World {
  const world = new World(config);
  world.list();
  world.demand(60);
  for (const act of acts) world.act(act);
  return world;
}

/** Without limits on first requests, and with some. */
const settings: readonly Partial<ProviderConfig>[] = [{}, { firstRequests: { walltime: hour / 4, waitingMax: 1 } }];

function mostWithinAnHour(instants: readonly number[]): number {
  return instants.reduce(
    (most, at) => Math.max(most, instants.filter((other) => other > at - hour && other <= at).length),
    0,
  );
}

test('whatever happens to limits, tasks and the queue, no request is beyond the limits of its moment, and the budget of no hour is exceeded', (t) => {
  fc.assert(
    fc.property(anyActs, (acts) => {
      return settings.every((config) => {
        const { drafted, givenUp } = play(acts, config);
        return (
          mostWithinAnHour(drafted.map(({ at }) => at)) <= perHour.submissions &&
          mostWithinAnHour(givenUp.map(({ at }) => at)) <= perHour.withdrawals
        );
      });
    }),
    nightRuns,
  );
  t.pass();
});

test('what a heuristic that watches was promised, has waited and asked for is what replay and a snapshot give back', (t) => {
  const getPromised = ({ state }: ProviderHarness): string =>
    JSON.stringify([
      state.asked,
      state.waits,
      [...state.brokers.values()].map(({ cutOff, taskTimes }) => [cutOff, taskTimes]),
      [...state.requests.values()].map(({ promisedStart }) => promisedStart),
    ]);
  fc.assert(
    fc.property(anyActs, (acts) => {
      const { harness } = play(acts);
      const before = getPromised(harness);
      harness.state = restoreSnapshot(
        harness.config,
        JSON.parse(JSON.stringify(takeSnapshot(harness.state))) as ProviderSnapshot,
      );
      const deserialized = getPromised(harness);
      harness.restart();
      return deserialized === before && getPromised(harness) === before;
    }),
    nightRuns,
  );
  t.pass();
});

test('if nothing happens for two days, present requests stay: no loop of asking and giving up', (t) => {
  fc.assert(
    fc.property(anyActs, (acts) => {
      return settings.every((config) => {
        const world = play(acts, config);
        world.demand(100);
        world.standStill(4 * hour);
        const [draftedCount, givenUpCount] = [world.drafted.length, world.givenUp.length];
        world.standStill(48 * hour);
        return world.drafted.length - draftedCount <= 2 && world.givenUp.length - givenUpCount <= 2;
      });
    }),
    { ...nightRuns, numRuns: Math.ceil((nightRuns.numRuns ?? 100) / 5) },
  );
  t.pass();
});
