// costa2005, chapter 2 (eager scheduling, Workqueue with Replication), section 4.2 (workqueue of the study) and
// equation 3.4 (waste).
import test from 'ava';
import {
  type BrokerCommand,
  type BrokerInput,
  brokerMachine,
  createBrokerState,
  findLedger,
} from '@mutirao/core/machines/broker';
import { aJob, aMachine, anEnd } from '@mutirao/testkit';

interface Grid {
  /** Run time of each task on a machine of speed 1. */
  readonly taskTimes: readonly number[];
  /** One machine of one processor each. */
  readonly speeds: readonly number[];
  readonly replicasMax: number;
}

interface Run {
  readonly makespan: number;
  /** Replicas that were cancelled because a sibling finished first. */
  readonly cancelledCount: number;
}

/** Runs a bag in virtual time over machines of given speeds, without any latency. */
function run({ taskTimes, speeds, replicasMax }: Grid): Run {
  const state = createBrokerState({ replicateAfter: 0, retryElsewhere: 0 });
  const running = new Map<string, { replicaId: number; startedAt: number; endsAt: number }>();
  let cancelledCount = 0;
  let now = 1;
  const perform = (command: BrokerCommand) => {
    if (command.kind === 'StartReplicas') {
      for (const { replicaId, taskIndex } of command.starts) {
        const speed = speeds[Number(command.machineId.slice(3))] ?? 1;
        running.set(command.machineId, {
          replicaId,
          startedAt: now,
          endsAt: now + (taskTimes[taskIndex] ?? 0) / speed,
        });
      }
    }
    if (command.kind === 'CancelReplicas') {
      cancelledCount += command.replicaIds.length;
      report(command.machineId, 'cancelled');
    }
  };
  const waiting: BrokerInput[] = [];
  const report = (machineId: string, outcome: 'succeeded' | 'cancelled') => {
    const replica = running.get(machineId);
    running.delete(machineId);
    if (replica === undefined) return;
    const ended = [anEnd(replica.replicaId, outcome, { startedAt: replica.startedAt, endedAt: now })];
    waiting.push({ kind: 'MachineReported', machineId, report: { sequence: 1, started: [], ended } });
  };
  waiting.push(
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  for (const index of speeds.keys())
    waiting.push({ kind: 'MachineJoined', providerId: 'p', facts: aMachine(`p/m${index}`), heldReplicaIds: [] });
  waiting.push({
    kind: 'JobSubmitted',
    replyTo: 1,
    userId: 'ann',
    clientJobId: '',
    spec: aJob(taskTimes.length, { replicasMax }),
  });
  for (;;) {
    while (waiting.length > 0) brokerMachine.step(state, waiting.splice(0), now).commands.forEach(perform);
    if (state.openJobs.size === 0) return { makespan: now - 1, cancelledCount };
    now = Math.min(...[...running.values()].map((replica) => replica.endsAt));
    for (const [machineId, replica] of running) if (replica.endsAt === now) report(machineId, 'succeeded');
  }
}

/** Numbers in [0, 1) that are the same in each run. */
function* draws(seed: number): Generator<number> {
  for (let value = seed; ; ) {
    value = (value * 48_271) % 2_147_483_647;
    yield value / 2_147_483_647;
  }
}

function draw(source: Generator<number>): number {
  return source.next().value as number;
}

test('equal tasks on equal machines take as many waves as the machines need (section 4.2)', (t) => {
  t.deepEqual(run({ taskTimes: Array<number>(10).fill(20_000), speeds: [1, 1, 1, 1], replicasMax: 1 }), {
    makespan: 60_000,
    cancelledCount: 0,
  });
});

test('idle processors replicate running tasks; the first to finish wins and the others are cancelled (section 2.3)', (t) => {
  const grid = { taskTimes: Array<number>(8).fill(20_000), speeds: [1, 1, 1, 0.05] };
  t.is(run({ ...grid, replicasMax: 1 }).makespan, 400_000);
  // Three machines do six tasks in two waves, then two of them take the seventh and the straggler's.
  t.deepEqual(run({ ...grid, replicasMax: 2 }), { makespan: 60_000, cancelledCount: 2 });
});

test('replication never lengthens the makespan of independent tasks (section 2.3)', (t) => {
  const source = draws(11);
  for (let round = 0; round < 40; round++) {
    const taskTimes = Array.from({ length: 15 }, () => 20_000 + Math.floor(draw(source) * 20_000));
    const speeds = Array.from({ length: 5 }, () => 0.25 + draw(source));
    const [alone, twice] = [1, 2].map((replicasMax) => run({ taskTimes, speeds, replicasMax }).makespan);
    t.true((twice ?? 0) <= (alone ?? 0) + 1, `${twice} with replicas, ${alone} without`);
  }
});

test('tasks in order do as well as tasks in random order, where tasks are alike to the scheduler (section 4.2)', (t) => {
  const source = draws(5);
  let inOrder = 0;
  let inRandomOrder = 0;
  for (let round = 0; round < 60; round++) {
    // 2x heterogeneity: U(mean / 2, 3 mean / 2). The order is random to a scheduler when the times are shuffled.
    const taskTimes = Array.from({ length: 60 }, () => 15_000 + Math.floor(draw(source) * 30_000));
    const shuffled = taskTimes
      .map((time) => ({ time, place: draw(source) }))
      .sort((one, other) => one.place - other.place)
      .map(({ time }) => time);
    inOrder += run({ taskTimes, speeds: [1, 1, 1, 1], replicasMax: 1 }).makespan;
    inRandomOrder += run({ taskTimes: shuffled, speeds: [1, 1, 1, 1], replicasMax: 1 }).makespan;
  }
  t.true(Math.abs(inOrder / inRandomOrder - 1) < 0.02, `${inOrder} against ${inRandomOrder}`);
});

test('waste is what an allocation held less what its winners used (equation 3.4)', (t) => {
  const state = createBrokerState();
  const request = {
    providerId: 'p',
    requestId: '1',
    managerRequestId: '9',
    width: 2,
    walltime: 100_000,
    status: 'running' as const,
    seenAt: 0,
    submittedAt: 1,
    startedAt: 1000,
    endedAt: 0,
    reasons: [],
    heuristic: 'static',
  };
  const joining = ['p/1.0', 'p/1.1'].map(
    (machineId): BrokerInput => ({
      kind: 'MachineJoined',
      providerId: 'p',
      facts: aMachine(machineId, { requestId: '1', until: 101_000 }),
      heldReplicaIds: [],
    }),
  );
  brokerMachine.step(
    state,
    [
      { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
      { kind: 'ProviderConnected', providerId: 'p' },
      { kind: 'RequestsChanged', providerId: 'p', requests: [request] },
      ...joining,
      { kind: 'JobSubmitted', replyTo: 1, userId: 'ann', clientJobId: '', spec: aJob(2, { replicasMax: 1 }) },
    ],
    1000,
  );
  const ended = [anEnd(1, 'succeeded', { startedAt: 1000, endedAt: 61_000 })];
  brokerMachine.step(
    state,
    [{ kind: 'MachineReported', machineId: 'p/1.0', report: { sequence: 1, started: [], ended } }],
    61_000,
  );
  brokerMachine.step(
    state,
    [
      {
        kind: 'MachineReported',
        machineId: 'p/1.1',
        report: { sequence: 1, started: [{ replicaId: 2, startedAt: 1000 }], ended: [] },
      },
    ],
    62_000,
  );
  // The walltime ends before the second task does: the first of the two causes of waste.
  brokerMachine.step(
    state,
    [
      { kind: 'MachineLost', machineId: 'p/1.1', reason: 'MUT_WALLTIME_ENDED' },
      { kind: 'MachineLost', machineId: 'p/1.0', reason: 'MUT_WALLTIME_ENDED' },
      { kind: 'RequestsChanged', providerId: 'p', requests: [{ ...request, status: 'ended', endedAt: 101_000 }] },
    ],
    101_000,
  );
  t.deepEqual(findLedger(state, 500_000), [
    {
      providerId: 'p',
      requestId: '1',
      requested: 200_000,
      held: 200_000,
      used: 60_000,
      losers: 0,
      killed: 100_000,
      idle: 40_000,
      ended: true,
    },
  ]);
});
