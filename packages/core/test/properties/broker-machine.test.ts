import test from 'ava';
import fc from 'fast-check';
import { aGroup, aJob, aMachine, BrokerWorld, runs } from '@mutirao/testkit';
import { defaultBrokerOptions } from '@mutirao/core/machines/broker';
import { schedulerNames, type Outcome, type ReplicationCap } from '@mutirao/core/messages';

const machineIds = ['p/m0', 'p/m1', 'p/m2', 'p/m3'];
const outcomes: readonly Outcome[] = [
  'succeeded',
  'succeeded',
  'succeeded',
  'failed',
  'limited',
  'broken',
  'cancelled',
];

/** Something that happens to a broker and its world; numbers are taken modulo what is there. */
type Event = (world: BrokerWorld) => void;

function pick<Item>(items: readonly Item[], number: number): Item | undefined {
  return items[number % Math.max(1, items.length)];
}

const number = fc.nat({ max: 1000 });
const machineId = fc.constantFrom(...machineIds);

const submission: fc.Arbitrary<Event> = fc
  .record({
    count: fc.integer({ min: 1, max: 12 }),
    replicasMax: fc.integer({ min: 1, max: 3 }),
    failuresMax: fc.integer({ min: 1, max: 3 }),
    stopping: fc.constantFrom({}, {}, { failedTasksMax: 2 }),
    processors: fc.constantFrom(1, 1, 2),
    check: fc.constantFrom('', '', 'true'),
    noOp: fc.boolean(),
    groups: fc.integer({ min: 1, max: 3 }),
    widths: fc.constantFrom({}, {}, { processorsMax: 4 }, { processors: 2, processorsMax: 3 }, { processors: 1 }),
    scheduler: fc.constantFrom(...schedulerNames),
    replicationCap: fc.constantFrom<ReplicationCap>(
      { kind: 'none' },
      { kind: 'none' },
      { kind: 'idle' },
      { kind: 'share', percent: 30 },
    ),
    requirements: fc.constantFrom('', '', 'size == big'),
    again: fc.boolean(),
    opening: fc.constantFrom({}, {}, { open: true as const }),
  })
  .map(
    ({
      count,
      replicasMax,
      failuresMax,
      stopping,
      processors,
      check,
      noOp,
      groups,
      widths,
      requirements,
      again,
      opening,
      scheduler,
      replicationCap,
    }) =>
      (world) => {
        const group = aGroup(count, { check, noOp, requirements });
        world.submit(
          aJob(1, {
            groups: Array.from({ length: groups }, (_, index) => (index === 0 ? group : { ...group, ...widths })),
            replicasMax,
            failuresMax,
            ...stopping,
            processors,
            scheduler,
            replicationCap,
            ...opening,
          }),
          again ? 'same' : '',
        );
      },
  );

const joining: fc.Arbitrary<Event> = fc
  .record({
    machineId,
    processors: fc.integer({ min: 1, max: 4 }),
    clockError: fc.constantFrom(0, 0, -5000, 7000),
    isAllocated: fc.boolean(),
    time: fc.integer({ min: 1, max: 5000 }),
  })
  .map(({ machineId: name, processors, clockError, isAllocated, time }) => (world) => {
    const requestId = isAllocated ? '3' : '';
    world.join(
      aMachine(name, {
        processors,
        attributes: { size: processors > 2 ? 'big' : 'small' },
        requestId,
        until: isAllocated ? world.now + time : undefined,
      }),
      clockError,
    );
  });

const working: fc.Arbitrary<Event> = fc
  .record({ where: number, number, outcome: fc.constantFrom(...outcomes), reports: fc.boolean() })
  .map(({ where, number: which, outcome, reports }) => (world) => {
    const agent = pick([...world.agents.values()], where);
    const replicaId = pick(agent?.runningIds() ?? [], which);
    if (agent === undefined || replicaId === undefined) return;
    world.end(agent.facts.machineId, replicaId, outcome);
    if (reports) world.report(agent.facts.machineId);
  });

const settling: fc.Arbitrary<Event> = fc
  .record({ number, isGood: fc.boolean() })
  .map(({ number: which, isGood }) => (world) => {
    const replicaId = world.accepting.splice(which % Math.max(1, world.accepting.length), 1)[0];
    if (replicaId === undefined) return;
    if (isGood) world.step({ kind: 'ResultAccepted', replicaId });
    else world.step({ kind: 'ResultRefused', replicaId, reason: 'MUT_CHECK_FAILED', detail: '' });
  });

/** Of a few keys, so that some come again; each stands for so many tasks of one shape. */
function append(world: BrokerWorld, jobId: number, which: number): void {
  const key = which % 6;
  const groups = [aGroup(1 + (key % 3), key % 2 === 0 ? {} : { processors: 2, processorsMax: 3 })];
  world.step({ kind: 'TasksAppended', replyTo: 5, userId: 'ann', jobId, appendKey: `k${key}`, groups });
}

function steer(
  world: BrokerWorld,
  order: 'hold' | 'release' | 'update',
  { jobId, which }: { readonly jobId: number; readonly which: number },
): void {
  if (order === 'update')
    world.step({
      kind: 'JobUpdated',
      replyTo: 6,
      userId: 'ann',
      jobId,
      priority: (which % 5) - 2,
      runningMax: which % 4,
    });
  else
    world.step({
      kind: order === 'hold' ? 'TasksHeld' : 'TasksReleased',
      replyTo: 5,
      userId: 'ann',
      jobId,
      taskIndexes: which % 2 === 0 ? [] : [which % 5, 0],
    });
}

const orders = ['cancel', 'cancel tasks', 'retry', 'append', 'append', 'close', 'hold', 'release', 'update'] as const;

const ordering: fc.Arbitrary<Event> = fc
  .record({ number, order: fc.constantFrom(...orders) })
  .map(({ number: which, order }) => (world) => {
    const jobId = pick([...world.state.jobs.keys()], which) ?? 99;
    const tasks = [which % 5, 0];
    if (order === 'cancel tasks')
      world.step({ kind: 'TasksCancelled', replyTo: 4, userId: 'ann', jobId, taskIndexes: tasks, reason: '' });
    else if (order === 'append') append(world, jobId, which);
    else if (order === 'close') world.step({ kind: 'JobClosed', replyTo: 6, userId: 'ann', jobId });
    else if (order === 'cancel')
      world.step({ kind: 'JobCancelled', replyTo: 2, userId: 'ann', jobId, reason: 'enough' });
    else if (order === 'hold' || order === 'release' || order === 'update') steer(world, order, { jobId, which });
    else
      world.step({
        kind: 'TasksRetried',
        replyTo: 3,
        userId: 'ann',
        jobId,
        taskIndexes: which % 2 === 0 ? [] : tasks,
      });
  });

const mishap: fc.Arbitrary<Event> = fc.oneof(
  machineId.map(
    (name): Event =>
      (world) =>
        world.lose(name),
  ),
  machineId.map(
    (name): Event =>
      (world) =>
        world.resend(name),
  ),
  fc.constant<Event>((world) => world.disconnect()),
  fc.constant<Event>((world) => world.connect()),
  fc.boolean().map(
    (fromSnapshot): Event =>
      (world) =>
        world.restart(fromSnapshot),
  ),
  fc.tuple(machineId, fc.boolean()).map(
    ([name, fromSnapshot]): Event =>
      (world) => {
        const replicaId = pick(world.agents.get(name)?.runningIds() ?? [], 0);
        if (replicaId !== undefined) world.end(name, replicaId, 'succeeded');
        world.crashAfterReport(name, fromSnapshot);
      },
  ),
  number.map(
    (which): Event =>
      (world) => {
        const replicaId = pick([...world.state.replicas.keys()], which);
        if (replicaId !== undefined)
          world.step({ kind: 'ReplicaUnstartable', replicaId, reason: 'MUT_INPUT_MISSING', detail: 'a.txt' });
      },
  ),
  number.map(
    (which): Event =>
      (world) =>
        world.step({
          kind: 'RequestsChanged',
          providerId: 'p',
          requests: [
            {
              providerId: 'p',
              requestId: '3',
              managerRequestId: '8',
              width: 4,
              walltime: 5000,
              status: which % 2 === 0 ? 'running' : 'ended',
              seenAt: world.now,
              submittedAt: 1_000_000,
              startedAt: 1_000_000,
              endedAt: which % 2 === 0 ? 0 : world.now,
              reasons: [],
              heuristic: 'static',
            },
          ],
        }),
  ),
);

const passing: fc.Arbitrary<Event> = fc.constantFrom(0, 1, 50, 300, 2000, 40_000).map((time) => (world) => {
  world.now += time;
  world.step({ kind: 'TimerFired' });
});

const events = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: submission },
    { weight: 3, arbitrary: joining },
    { weight: 16, arbitrary: working },
    { weight: 4, arbitrary: settling },
    { weight: 2, arbitrary: ordering },
    { weight: 4, arbitrary: mishap },
    { weight: 5, arbitrary: passing },
  ),
  { minLength: 20, maxLength: 60, size: 'max' },
);

/** Nothing more can be appended. */
function closeAll(world: BrokerWorld): void {
  for (const jobId of world.state.openJobs.keys()) world.step({ kind: 'JobClosed', replyTo: 6, userId: 'ann', jobId });
}

function releaseAll(world: BrokerWorld): void {
  for (const jobId of world.state.openJobs.keys())
    world.step({ kind: 'TasksReleased', replyTo: 5, userId: 'ann', jobId, taskIndexes: [] });
}

/** Everything works from now on: all that is open has to end, once nothing more can be appended. */
function heal(world: BrokerWorld): void {
  closeAll(world);
  for (const name of machineIds) world.lose(name);
  world.connect();
  for (const name of machineIds) world.join(aMachine(name, { processors: 4, attributes: { size: 'big' } }));
  releaseAll(world);
  for (let round = 0; world.state.openJobs.size > 0; round++) {
    if (round > 400) throw new Error('jobs do not end though everything works');
    world.now += 100;
    for (const name of machineIds) {
      for (const replicaId of world.agents.get(name)?.runningIds() ?? []) world.end(name, replicaId, 'succeeded');
      world.report(name);
    }
    for (const replicaId of world.accepting.splice(0)) world.step({ kind: 'ResultAccepted', replicaId });
    world.step({ kind: 'TimerFired' });
  }
}

test('the same holds where tasks of several processors are placed', (t) => {
  fc.assert(
    fc.property(events, fc.constantFrom('min-ct:0.5', 'random', 'min-wwt:adaptive'), (all, choice) => {
      const world = new BrokerWorld({
        suspectGrace: 5000,
        lossesMax: 6,
        retryElsewhere: 1000,
        siteSelection: { ...defaultBrokerOptions.siteSelection, choice, aheadMax: 4, decisionsMax: 3 },
      });
      try {
        world.submit(aJob(5, { processors: 2 }));
        for (const name of machineIds.slice(0, 2)) world.join(aMachine(name, { processors: 2 }));
        for (const happen of all) happen(world);
        heal(world);
        world.checkCopies();
      } catch (error) {
        t.log(String(error).slice(0, 4000));
        throw error;
      }
    }),
    runs(20_250_102, 80),
  );
  t.pass();
});

test('whatever happens, each task ends once, replay and snapshots agree, the ledger adds up, and all ends when things work again', (t) => {
  fc.assert(
    fc.property(events, (all) => {
      const world = new BrokerWorld({ suspectGrace: 5000, lossesMax: 6, retryElsewhere: 1000 });
      try {
        world.submit(aJob(5));
        for (const name of machineIds.slice(0, 2)) world.join(aMachine(name, { processors: 2 }));
        for (const happen of all) happen(world);
        heal(world);
        world.checkCopies();
      } catch (error) {
        // The runner shows the functions that led here, but not the error.
        t.log(String(error).slice(0, 4000));
        throw error;
      }
    }),
    runs(20_250_101, 250),
  );
  t.pass();
});
