import test from 'ava';
import fc from 'fast-check';
import {
  takeSnapshot,
  isPending,
  providerMachine,
  restoreSnapshot,
  type ProviderCommand,
  type ProviderInput,
  type ProviderSnapshot,
} from '@mutirao/core/machines/provider';
import type { QueuedRequest } from '@mutirao/core/messages';
import { ProviderHarness, runs } from '@mutirao/testkit';

const requestsMax = 3;

type Act =
  | { readonly kind: 'demand'; readonly broker: number; readonly tasks: number }
  | { readonly kind: 'connect' | 'disconnect'; readonly broker: number; readonly instance?: string }
  | { readonly kind: 'answer'; readonly outcome: 'accepted' | 'refused' | 'lost' | 'silent' }
  | { readonly kind: 'list'; readonly lies: boolean; readonly omit: number }
  | { readonly kind: 'fail' | 'restart' | 'start' | 'attach' | 'detach' | 'finish' | 'requeue' | 'release' }
  | { readonly kind: 'wait'; readonly time: number };

/** A resource with its own truth: what it has, whatever the provider believes. */
class World {
  readonly harness = new ProviderHarness();
  readonly truth = new Map<string, QueuedRequest>();
  readonly submitted = new Set<string>();
  private readonly calls: (ProviderCommand & { kind: 'SubmitRequest' })[] = [];
  /** What the provider gives back and the resource has not taken yet. */
  private readonly releases: (ProviderCommand & { kind: 'ReleaseRequest' })[] = [];
  private connectionId = 0;
  private attachmentId = 0;
  private readonly attached: { machineId: string; attachmentId: number }[] = [];
  liveMax = 0;

  constructor() {
    this.deliver({ kind: 'ProviderStarted', instance: 'i' });
    const limits = { processors: 8, requestsMax, widthMax: 4, walltimeMax: 100_000, walltimeGranularity: 1 };
    this.deliver({ kind: 'LimitsRead', limits });
  }

  deliver(...inputs: ProviderInput[]): void {
    for (const command of this.harness.step(inputs)) this.perform(command);
  }

  private perform(command: ProviderCommand): void {
    if (command.kind === 'SubmitRequest') {
      if (this.submitted.has(command.requestId)) throw new Error(`${command.requestId} is submitted twice`);
      this.submitted.add(command.requestId);
      this.calls.push(command);
    } else if (command.kind === 'ReleaseRequest') {
      this.releases.push(command);
    } else if (command.kind === 'RefuseAgent' || command.kind === 'ReattachAgent') {
      const index = this.attached.findIndex((agent) => agent.attachmentId === command.attachmentId);
      const agent = this.attached.splice(index, index < 0 ? 0 : 1)[0];
      if (agent !== undefined) this.deliver({ kind: 'AgentDetached', ...agent, hasLeft: false });
    }
  }

  act(act: Act): void {
    switch (act.kind) {
      case 'demand':
        this.deliver({
          kind: 'DemandChanged',
          brokerId: `b${act.broker}`,
          demand: {
            pendingTasks: act.tasks,
            processors: 1,
            taskTimeMax: undefined,
            taskTimeMean: undefined,
            deadline: undefined,
            userId: 'ana',
          },
        });
        break;
      case 'connect':
        this.connectionId += 1;
        this.deliver({
          kind: 'BrokerConnected',
          brokerId: `b${act.broker}`,
          connectionId: this.connectionId,
          ...(act.instance === undefined ? {} : { instance: act.instance }),
        });
        break;
      case 'disconnect':
        this.deliver({
          kind: 'BrokerDisconnected',
          brokerId: `b${act.broker}`,
          connectionId: this.harness.state.brokers.get(`b${act.broker}`)?.connectionId ?? 0,
        });
        break;
      case 'answer':
        this.answer(act.outcome);
        break;
      case 'list':
        this.list(act.lies, act.omit);
        break;
      case 'fail':
        this.deliver({ kind: 'QueueReadFailed', reason: 'hung' });
        break;
      case 'restart':
        this.calls.splice(0);
        this.releases.splice(0);
        this.attached.splice(0);
        this.deliver(this.harness.restart());
        break;
      case 'start':
        this.alter('queued', (entry) => ({ ...entry, status: 'running', startsAt: this.harness.now }));
        break;
      case 'finish':
        this.alter('running', (entry) => ({ ...entry, status: 'ended', endedAt: this.harness.now }));
        break;
      case 'requeue':
        this.requeue();
        break;
      case 'release':
        this.returnToQueue();
        break;
      case 'attach':
        this.attach();
        break;
      case 'detach': {
        const agent = this.attached.shift();
        if (agent !== undefined) this.deliver({ kind: 'AgentDetached', ...agent, hasLeft: false });
        break;
      }
      case 'wait':
        this.wait(act.time);
        break;
    }
  }

  private answer(outcome: 'accepted' | 'refused' | 'lost' | 'silent'): void {
    const call = this.calls.shift();
    if (call === undefined) return;
    const { requestId, clientRequestId, width, walltime } = call;
    const managerRequestId = `m-${requestId}`;
    if (outcome === 'accepted' || outcome === 'lost') {
      this.truth.set(managerRequestId, {
        managerRequestId,
        clientRequestId,
        width,
        walltime,
        userId: 'ana',
        status: 'queued',
        submittedAt: this.harness.now,
        startsAt: 0,
        endedAt: 0,
        endReason: '',
      });
      this.liveMax = Math.max(this.liveMax, this.live().length);
    }
    if (outcome === 'accepted') this.deliver({ kind: 'SubmitAccepted', requestId, managerRequestId });
    else if (outcome === 'refused') this.deliver({ kind: 'SubmitRefused', requestId, reason: 'full' });
    else this.deliver({ kind: 'SubmitUnknown', requestId, reason: 'deadline' });
  }

  private returnToQueue(): void {
    const release = this.releases.shift();
    if (release === undefined) return;
    this.end(release.managerRequestId);
    this.deliver({ kind: 'ReleaseDone', requestId: release.requestId });
  }

  private list(lies: boolean, omit: number): void {
    const all = [...this.truth.values()];
    const requests = lies ? all.filter((_, index) => index % 3 !== omit) : all;
    this.deliver({
      kind: 'QueueListed',
      listing: { at: this.harness.now, processorsFree: 0, requests },
      readAt: this.harness.now,
    });
  }

  private alter(status: QueuedRequest['status'], change: (entry: QueuedRequest) => QueuedRequest): void {
    const entry = [...this.truth.values()].find((one) => one.status === status);
    if (entry !== undefined) this.truth.set(entry.managerRequestId, change(entry));
  }

  /** The manager puts an allocation back into its queue, and what ran in it is gone. */
  private requeue(): void {
    const entry = [...this.truth.values()].find((one) => one.status === 'running');
    if (entry === undefined) return;
    this.truth.set(entry.managerRequestId, { ...entry, status: 'queued', startsAt: 0 });
    const isOfEntry = ({ machineId }: { readonly machineId: string }): boolean =>
      machineId.startsWith(`p/${entry.managerRequestId.slice(2)}.`);
    const gone = this.attached.filter(isOfEntry);
    this.attached.splice(0, this.attached.length, ...this.attached.filter((agent) => !isOfEntry(agent)));
    for (const agent of gone) this.deliver({ kind: 'AgentDetached', ...agent, hasLeft: false });
  }

  private end(managerRequestId: string): void {
    const entry = this.truth.get(managerRequestId);
    if (entry !== undefined && entry.status !== 'ended')
      this.truth.set(managerRequestId, { ...entry, status: 'ended', endedAt: this.harness.now });
  }

  private attach(): void {
    const entry = [...this.truth.values()].find((one) => one.status === 'running');
    if (entry === undefined) return;
    this.attachmentId += 1;
    const requestId = entry.managerRequestId.slice(2);
    const machineId = `p/${requestId}.0`;
    this.attached.push({ machineId, attachmentId: this.attachmentId });
    this.deliver({
      kind: 'AgentAttached',
      attachmentId: this.attachmentId,
      heldReplicaIds: [],
      facts: { machineId, incarnation: '1', processors: 1, attributes: {}, until: undefined, requestId },
    });
  }

  private wait(time: number): void {
    const { harness } = this;
    harness.now += time;
    if (harness.state.wakeAt > 0 && harness.state.wakeAt <= harness.now) this.deliver({ kind: 'TimerFired' });
  }

  live(): QueuedRequest[] {
    return [...this.truth.values()].filter((entry) => entry.status !== 'ended');
  }

  /** The world turns good: calls are answered, listings are true, nobody wants anything. */
  heal(tasks: number): void {
    for (const broker of [0, 1]) {
      this.act({ kind: 'connect', broker });
      this.act({ kind: 'demand', broker, tasks: 0 });
      this.act({ kind: 'demand', broker, tasks });
    }
    for (let round = 0; round < 40; round += 1) {
      this.wait(1_000);
      while (this.calls.length > 0) this.answer('accepted');
      while (this.releases.length > 0) this.returnToQueue();
      this.list(false, 0);
    }
  }
}

const anyAct: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant('demand' as const), broker: fc.nat(1), tasks: fc.nat(20) }),
  fc.record({
    kind: fc.constantFrom('connect' as const, 'disconnect' as const),
    broker: fc.nat(1),
    instance: fc.constantFrom('', 'one', 'two'),
  }),
  fc.record({
    kind: fc.constant('answer' as const),
    outcome: fc.constantFrom(
      'accepted' as const,
      'accepted' as const,
      'refused' as const,
      'lost' as const,
      'silent' as const,
    ),
  }),
  fc.record({ kind: fc.constant('list' as const), lies: fc.boolean(), omit: fc.nat(2) }),
  fc.record({
    kind: fc.constantFrom(
      'fail' as const,
      'restart' as const,
      'start' as const,
      'attach' as const,
      'detach' as const,
      'finish' as const,
      'requeue' as const,
      'release' as const,
      'release' as const,
    ),
  }),
  fc.record({ kind: fc.constant('wait' as const), time: fc.integer({ min: 1, max: 20_000 }) }),
);

function play(acts: readonly Act[]): World {
  const world = new World();
  world.act({ kind: 'connect', broker: 0 });
  world.act({ kind: 'list', lies: false, omit: 0 });
  for (const act of acts) world.act(act);
  return world;
}

const nightRuns = runs(20_050_901, 300);
// As long as they may be: what is given back was asked for, queued and not wanted for a while before.
const anyActs = fc.array(anyAct, { maxLength: 60, size: 'max' });

test('never more requests pending than the resource allows, and none submitted twice, whatever the queue reports', (t) => {
  fc.assert(
    fc.property(anyActs, (acts) => {
      const { state } = play(acts).harness;
      return [...state.requests.values()].filter(isPending).length <= requestsMax;
    }),
    nightRuns,
  );
  t.pass();
});

test('while listings fail but do not lie, the resource never has more of our requests than it allows', (t) => {
  fc.assert(
    fc.property(anyActs, (acts) => {
      const honest = acts.map((act) => (act.kind === 'list' ? { ...act, lies: false } : act));
      return play(honest).liveMax <= requestsMax;
    }),
    nightRuns,
  );
  t.pass();
});

test('replay of the journal gives back every request, broker and machine', (t) => {
  fc.assert(
    fc.property(anyActs, (acts) => {
      const { harness } = play(acts);
      const before = getPromised(harness);
      harness.restart();
      return getPromised(harness) === before;
    }),
    nightRuns,
  );
  t.pass();
});

test('a snapshot holds what replay would give back', (t) => {
  fc.assert(
    fc.property(anyActs, (acts) => {
      const { harness } = play(acts);
      const before = getPromised(harness);
      harness.state = restoreSnapshot(
        harness.config,
        JSON.parse(JSON.stringify(takeSnapshot(harness.state))) as ProviderSnapshot,
      );
      providerMachine.checkInvariants(harness.state);
      return getPromised(harness) === before;
    }),
    nightRuns,
  );
  t.pass();
});

test('once nothing is wanted and the world is well, everything that was asked for is given back', (t) => {
  fc.assert(
    fc.property(anyActs, (acts) => {
      const world = play(acts);
      world.heal(0);
      return world.live().length === 0;
    }),
    nightRuns,
  );
  t.pass();
});

test('once the world is well, a request waits or runs for its provider where it does so for its manager, also one that was requeued', (t) => {
  fc.assert(
    fc.property(anyActs, (acts) => {
      const world = play(acts);
      world.heal(50);
      const { requests } = world.harness.state;
      return world
        .live()
        .every(({ managerRequestId, status }) => requests.get(managerRequestId.slice(2))?.status === status);
    }),
    nightRuns,
  );
  t.pass();
});

test('once something is wanted and the world is well, something is asked for', (t) => {
  fc.assert(
    fc.property(anyActs, (acts) => {
      const world = play(acts);
      world.heal(50);
      return world.live().length > 0;
    }),
    nightRuns,
  );
  t.pass();
});

function getPromised({ state }: ProviderHarness): string {
  const requests = [...state.requests.values()].map(
    ({
      seenAt: _seen,
      unknownSince: _since,
      missedListings: _missed,
      waitingListings: _waiting,
      releaseAskedAt: _asked,
      ...promised
    }) => promised,
  );
  const machines = [...state.machines.values()].map(({ facts, brokerId, isForeign }) => ({
    facts,
    brokerId,
    isForeign,
  }));
  const { instance, limits, nextRequestNumber, taskTimes, refusals, emptyAllocationStreak, pausedUntil } = state;
  return JSON.stringify({
    requests,
    machines,
    brokers: [...state.brokers.values()].map(({ brokerId, instance: named, demandFrom, taskTimes: ofDemand }) => ({
      brokerId,
      named,
      demandFrom,
      ofDemand,
    })),
    instance,
    limits,
    nextRequestNumber,
    taskTimes,
    refusals,
    emptyAllocationStreak,
    pausedUntil,
  });
}
