import test from 'ava';
import fc from 'fast-check';
import {
  clusterMachine,
  createClusterState,
  listQueue,
  restoreSnapshot,
  takeSnapshot,
  type ClusterChange,
  type ClusterCommand,
  type ClusterInput,
  type ClusterSnapshot,
  type ClusterState,
} from '@mutirao/core/machines/cluster';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  type BucOrder,
  type PlannedRequest,
  type QueuePolicy,
} from '@mutirao/core/queue';
import type { ReservedWindow } from '@mutirao/core/messages';
import { runs } from '@mutirao/testkit';

const processors = 5;

const anyAction = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('allocate' as const),
      user: fc.constantFrom('ana', 'bia'),
      key: fc.integer({ min: 0, max: 30 }),
      width: fc.integer({ min: 1, max: processors }),
      walltime: fc.integer({ min: 1, max: 40 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('exit' as const), pick: fc.nat(), all: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), pick: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), time: fc.integer({ min: 1, max: 25 }) }) },
);
type Action = typeof anyAction extends fc.Arbitrary<infer T> ? T : never;
/** So many processors go away, with the processes on them; none comes back but by another. */
const anyAway = fc.record({ kind: fc.constant('away' as const), count: fc.integer({ min: 0, max: processors }) });
type Away = typeof anyAway extends fc.Arbitrary<infer T> ? T : never;
const anyReservation = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('reserve' as const),
      ahead: fc.integer({ min: -5, max: 90 }),
      duration: fc.integer({ min: 1, max: 30 }),
      count: fc.integer({ min: 1, max: processors }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('shorten' as const),
      pick: fc.nat(),
      by: fc.integer({ min: 1, max: 30 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('inside' as const),
      pick: fc.nat(),
      width: fc.integer({ min: 1, max: processors }),
      walltime: fc.integer({ min: 1, max: 30 }),
      isShown: fc.boolean(),
    }),
  },
);
type Reservation = typeof anyReservation extends fc.Arbitrary<infer T> ? T : never;
const anyCrash = fc.record({ kind: fc.constant('crash' as const), time: fc.integer({ min: 0, max: 60 }) });

/** How the queue is served. */
interface Service {
  readonly policy: QueuePolicy;
  readonly order?: BucOrder;
}

function newState(service: Service): ClusterState {
  return createClusterState({
    processors,
    requestsMax: 6,
    walltimeMax: 60,
    widthMax: processors,
    walltimeGranularity: 5,
    endedMax: 8,
    ...service,
  });
}

/** A world that keeps its own truth: which processes really live, what was promised, and what the journal holds. */
class World {
  readonly service: Service;
  state: ClusterState;
  now = 1;
  readonly journal: ClusterChange[] = [];
  /** Indexes of the processes that live, by request. */
  readonly living = new Map<number, number[]>();
  readonly doomed = new Set<number>();
  readonly promises = new Map<number, number>();
  away = 0;
  broken = '';
  /** What the reservation manager has promised: never more than there is. */
  windows: ReservedWindow[] = [];
  reservationCount = 0;
  /** Those told of a longest walltime ahead, before the cluster lost anything. */
  readonly early = new Set<number>();
  readonly insideOf = new Map<number, number>();

  constructor(service: Service) {
    this.service = service;
    this.state = newState(service);
    this.receive([{ kind: 'ClusterStarted' }]);
  }

  act(action: Action | Away | Reservation | { kind: 'crash'; time: number }): void {
    switch (action.kind) {
      case 'reserve':
        return this.reserve(action);
      case 'shorten':
        return this.shorten(action);
      case 'inside':
        return this.enter(action);
      case 'away':
        return this.lose(action.count);
      case 'allocate': {
        const order = {
          userId: action.user,
          clientRequestId: `k${action.key}`,
          width: action.width,
          walltime: action.walltime,
          command: ['work'],
          environment: {},
          workingDirectory: '',
        };
        return this.receive([{ kind: 'AllocationRequested', replyTo: 1, order }]);
      }
      case 'exit':
        return this.exit([...this.living.keys()][action.pick % Math.max(1, this.living.size)], action.all);
      case 'release':
        return this.receive([{ kind: 'ReleaseRequested', replyTo: 1, requestId: action.pick }]);
      case 'pass':
        return this.pass(this.now + action.time);
      case 'crash':
        return this.crash(action.time);
    }
  }

  reserve({ ahead, duration, count }: Reservation & { kind: 'reserve' }): void {
    const startsAt = this.now + ahead;
    const window = {
      reservationId: this.reservationCount + 1,
      userId: 'ana',
      count,
      startsAt,
      endsAt: startsAt + duration,
    };
    const taken = this.windows
      .filter((other) => other.startsAt < window.endsAt && window.startsAt < other.endsAt)
      .reduce((sum, other) => sum + other.count, 0);
    if (window.endsAt <= this.now || taken + count > processors) return;
    this.reservationCount += 1;
    this.windows.push(window);
    if (ahead >= 60 && this.away === 0) this.early.add(window.reservationId);
    this.promises.clear();
    this.report();
  }

  /** Ends a reservation earlier, or at once. */
  shorten({ pick, by }: Reservation & { kind: 'shorten' }): void {
    const window = this.windows[pick % Math.max(1, this.windows.length)];
    if (window === undefined) return;
    this.windows = this.windows.map((other) => (other === window ? { ...window, endsAt: window.endsAt - by } : other));
    this.report();
  }

  enter({ pick, width, walltime, isShown }: Reservation & { kind: 'inside' }): void {
    const window = this.windows[pick % Math.max(1, this.windows.length)];
    if (window === undefined) return;
    const order = {
      userId: 'ana',
      clientRequestId: '',
      width,
      walltime,
      command: ['work'],
      environment: {},
      workingDirectory: '',
      reservationId: window.reservationId,
    };
    if (isShown) this.receive([{ kind: 'ReservationShown', window }]);
    const requestId = this.state.nextRequestId;
    this.receive([{ kind: 'AllocationRequested', replyTo: 1, order }]);
    const mayEnter = width <= window.count && walltime <= window.endsAt - window.startsAt && this.now < window.endsAt;
    if (this.state.nextRequestId > requestId !== mayEnter && (this.state.livingCounts.get('ana') ?? 0) < 6)
      this.broken = `request ${requestId} inside ${window.reservationId}: expected ${mayEnter}`;
  }

  report(): void {
    this.windows = this.windows.filter(({ startsAt, endsAt }) => startsAt < endsAt && this.now < endsAt);
    this.receive([{ kind: 'ReservationsReported', windows: this.windows }]);
  }

  /** Whoever made a reservation early enough has all of it, from its start to its end. */
  checkReservations(): void {
    const inside = (id: number): boolean => this.insideOf.has(id);
    const outside = [...this.living]
      .filter(([id]) => !inside(id) && !this.doomed.has(id))
      .reduce((sum, [, { length }]) => sum + length, 0);
    let aside = 0;
    for (const { reservationId, count, lateBy, startsAt, usedCount } of listQueue(this.state, this.now, 0)
      .reservations ?? []) {
      if (usedCount > count) this.broken = `${usedCount} inside reservation ${reservationId} of ${count}`;
      if (startsAt > this.now || !this.early.has(reservationId)) continue;
      aside += count;
      if (lateBy > 0) this.broken = `reservation ${reservationId} is late by ${lateBy}`;
    }
    if (outside + aside > processors) this.broken = `${outside} run outside of reservations of ${aside}`;
  }

  receive(inputs: ClusterInput[]): void {
    const { changes, commands } = clusterMachine.step(this.state, inputs, this.now);
    clusterMachine.checkInvariants(this.state);
    this.journal.push(...structuredClone(changes));
    for (const command of commands) this.perform(command);
    for (const { managerRequestId, status, startsAt } of listQueue(this.state, this.now, 0).requests) {
      const id = Number(managerRequestId);
      if (
        status === 'queued' &&
        this.service.policy.promises &&
        this.service.order === undefined &&
        !this.promises.has(id) &&
        startsAt > 0
      )
        this.promises.set(id, startsAt);
    }
  }

  perform(command: ClusterCommand): void {
    if (command.kind === 'KillProcesses') this.doomed.add(command.requestId);
    if (command.kind !== 'StartProcesses') return;
    const reservationId = this.state.requests.get(command.requestId)?.order.reservationId;
    if (reservationId !== undefined) this.enterTruly(command.requestId, reservationId, command.walltimeEnd);
    this.living.set(
      command.requestId,
      Array.from({ length: command.width }, (_, index) => index),
    );
    const busy = [...this.living.values()].reduce((sum, { length }) => sum + length, 0);
    if (busy > processors - this.away) this.broken = `${busy} processes run on ${processors - this.away} processors`;
    if (this.now > (this.promises.get(command.requestId) ?? Infinity))
      this.broken = `request ${command.requestId} started late`;
  }

  enterTruly(requestId: number, reservationId: number, walltimeEnd: number): void {
    this.insideOf.set(requestId, reservationId);
    const window = this.windows.find((other) => other.reservationId === reservationId);
    if (window === undefined || this.now < window.startsAt || walltimeEnd > window.endsAt)
      this.broken = `request ${requestId} runs from ${this.now} to ${walltimeEnd} inside of ${JSON.stringify(window)}`;
  }

  /** Processors are away, or back: what was promised of them cannot be kept, and nothing else may be lost by it. */
  lose(count: number): void {
    this.away = count;
    this.promises.clear();
    this.early.clear();
    this.receive([{ kind: 'ProcessorsAway', count }]);
    for (const [requestId, indexes] of [...this.living]) {
      const busy = [...this.living.values()].reduce((sum, { length }) => sum + length, 0);
      const lost = indexes.splice(0, Math.max(0, busy - (processors - count)));
      if (indexes.length === 0) this.living.delete(requestId);
      this.receive(
        lost.map((processIndex) => ({
          kind: 'ProcessExited',
          requestId,
          processIndex,
          exitStatus: 255,
          reason: 'MUT_NODE_LOST',
        })),
      );
    }
    for (const id of [...this.doomed]) this.exit(id, true);
    this.doomed.clear();
    this.promises.clear();
  }

  exit(requestId: number | undefined, all: boolean): void {
    if (requestId === undefined) return;
    const indexes = (this.living.get(requestId) ?? []).splice(0, all ? Infinity : 1);
    if (this.living.get(requestId)?.length === 0) this.living.delete(requestId);
    this.receive(indexes.map((processIndex) => ({ kind: 'ProcessExited', requestId, processIndex, exitStatus: 0 })));
  }

  /** Lets time go by, waking the machine when it asked for it; what was told to end does so at that instant. */
  pass(until: number): void {
    while (this.state.wakeAt !== undefined && this.state.wakeAt <= until && this.state.wakeAt > this.now) {
      this.now = this.state.wakeAt;
      this.receive([{ kind: 'TimerFired' }]);
      for (const id of [...this.doomed]) this.exit(id, true);
      this.doomed.clear();
      this.checkReservations();
    }
    this.now = until;
  }

  crash(time: number): void {
    this.now += time;
    this.living.clear();
    this.doomed.clear();
    this.promises.clear();
    this.early.clear();
    this.state = this.replayed();
    this.receive([{ kind: 'ClusterStarted', away: this.away }]);
  }

  replayed(): ClusterState {
    const state = newState(this.service);
    for (const change of this.journal) clusterMachine.apply(state, JSON.parse(JSON.stringify(change)) as ClusterChange);
    return state;
  }
}

function planned({ id, width, walltime, startsAt }: PlannedRequest): unknown {
  return { id, width, walltime, startsAt };
}

/** All that a state promises; the order of the users in a count says nothing. */
function getPromised(state: ClusterState) {
  const { plan } = state;
  if (plan.kind === 'nodes') throw new Error('expected a cluster of processors');
  const { profile, running, waiting } = plan;
  return {
    ...state,
    wakeAt: undefined,
    livingCounts: [...state.livingCounts].sort(([a], [b]) => a.localeCompare(b)),
    segments: [...profile.segments()],
    reservations: [...state.reservations],
    reservationBlocks: [...plan.reservationBlocks.values()],
    running: [...running.values()].map(planned),
    waiting: [...waiting.values()].map(planned),
  };
}

/**
 * Leads of 5 to 40 ms for walltimes of 60 to 5. Of requests that came at one instant with one walltime the score
 * decides.
 */
const byScores: BucOrder = { weight: 1.5e-8, leadMax: 40 };
const services: Service[] = [
  ...[
    conservativeBackfilling('start-now'),
    conservativeBackfilling('reinsert'),
    easyBackfilling,
    firstComeFirstServed,
  ].map((policy) => ({ policy })),
  ...[
    easyBackfilling,
    firstComeFirstServed,
    conservativeBackfilling('start-now'),
    conservativeBackfilling('reinsert'),
  ].map((policy) => ({ policy, order: byScores })),
];
const nameOf = ({ policy, order }: Service): string => (order === undefined ? policy.name : `${policy.name} by scores`);

for (const service of services) {
  test(`under ${nameOf(service)} a cluster is never over capacity, never late, and is what its journal says`, (t) => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            { weight: 12, arbitrary: anyAction },
            { weight: 1, arbitrary: anyCrash },
            { weight: 1, arbitrary: anyAway },
          ),
          { maxLength: 60 },
        ),
        (actions) => {
          const world = new World(service);
          for (const action of actions) world.act(action);
          const replayed = world.replayed();
          clusterMachine.checkInvariants(replayed);
          t.deepEqual(getPromised(replayed), getPromised(world.state));
          const restored = restoreSnapshot(
            world.state.options,
            JSON.parse(JSON.stringify(takeSnapshot(world.state))) as ClusterSnapshot,
          );
          t.deepEqual(getPromised(restored), getPromised(world.state));
          return world.broken === '';
        },
      ),
      runs(20_250_103, 300),
    );
  });

  test(`under ${nameOf(service)} everything that waits has started long enough after all processors are back`, (t) => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 12, arbitrary: anyAction }, { weight: 1, arbitrary: anyAway }), { maxLength: 40 }),
        (actions) => {
          const world = new World(service);
          for (const action of actions) world.act(action);
          world.lose(0);
          for (const id of [...world.doomed]) world.exit(id, true);
          world.doomed.clear();
          world.pass(world.now + 2000);
          return world.state.plan.waiting.size + world.state.plan.running.size === 0;
        },
      ),
      runs(20_250_104, 300),
    );
    t.pass();
  });
}

for (const service of services) {
  const anyStep = fc.oneof({ weight: 12, arbitrary: anyAction }, { weight: 4, arbitrary: anyReservation });
  test(`under ${nameOf(service)} a reservation made a longest walltime ahead is always there, and reservationBlocks are what the journal says`, (t) => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), (actions) => {
        const world = new World(service);
        for (const action of actions) world.act(action);
        t.deepEqual(getPromised(world.replayed()), getPromised(world.state));
        const restored = restoreSnapshot(
          world.state.options,
          JSON.parse(JSON.stringify(takeSnapshot(world.state))) as ClusterSnapshot,
        );
        t.deepEqual(getPromised(restored), getPromised(world.state));
        return world.broken === '';
      }),
      runs(20_261_122, 300),
    );
  });

  test(`under ${nameOf(service)} reservations, lost nodes and crashes leave no processor taken twice, and everything that waits starts in the end`, (t) => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            { weight: 12, arbitrary: anyStep },
            { weight: 1, arbitrary: anyCrash },
            { weight: 1, arbitrary: anyAway },
          ),
          { maxLength: 60 },
        ),
        (actions) => {
          const world = new World(service);
          for (const action of actions) world.act(action);
          t.deepEqual(getPromised(world.replayed()), getPromised(world.state));
          world.lose(0);
          for (const id of [...world.doomed]) world.exit(id, true);
          world.doomed.clear();
          world.pass(world.now + 3000);
          const { plan, insideIds, reservations } = world.state;
          return (
            world.broken === '' && plan.waiting.size + plan.running.size + insideIds.size + reservations.size === 0
          );
        },
      ),
      runs(20_261_123, 300),
    );
  });
}

test('how inputs are cut into batches changes nothing', (t) => {
  const order = (key: string, width: number) => ({
    userId: 'ana',
    clientRequestId: key,
    width,
    walltime: 20,
    command: ['work'],
    environment: {},
    workingDirectory: '',
  });
  const inputs: ClusterInput[] = [
    { kind: 'ClusterStarted' },
    ...[4, 3, 1, 2].map(
      (width, i): ClusterInput => ({ kind: 'AllocationRequested', replyTo: i, order: order(`k${i}`, width) }),
    ),
    ...[0, 1, 2, 3].map(
      (processIndex): ClusterInput => ({ kind: 'ProcessExited', requestId: 1, processIndex, exitStatus: 0 }),
    ),
    { kind: 'ReleaseRequested', replyTo: 9, requestId: 2 },
  ];
  const together = newState({ policy: conservativeBackfilling('start-now') });
  const apart = newState({ policy: conservativeBackfilling('start-now') });
  const atOnce = clusterMachine.step(together, inputs, 5).changes;
  t.deepEqual(
    inputs.flatMap((input) => clusterMachine.step(apart, [input], 5).changes),
    atOnce,
  );
  t.is(atOnce.filter(({ kind }) => kind === 'RequestStarted').length, 3);
});
