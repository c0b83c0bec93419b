import test from 'ava';
import {
  type BrokerInput,
  brokerMachine,
  type BrokerState,
  createBrokerState,
  explainTask,
  restore,
  snapshot,
} from '@mutirao/core/machines/broker';
import { aJob, aMachine, anEnd } from '@mutirao/testkit';

function open(): { readonly state: BrokerState; step(now: number, ...inputs: BrokerInput[]): void } {
  const state = createBrokerState({});
  const step = (now: number, ...inputs: BrokerInput[]): void => {
    brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
  };
  step(
    0,
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  step(1, { kind: 'JobSubmitted', replyTo: 7, userId: 'ann', clientJobId: '', spec: aJob(1, { replicasMax: 1 }) });
  return { state, step };
}

function joined(machineId = 'p/a'): BrokerInput {
  return { kind: 'MachineJoined', providerId: 'p', facts: aMachine(machineId, { processors: 1 }), heldReplicaIds: [] };
}

function stopped(
  state: BrokerState,
  sequence: number,
  { startedAt, endedAt }: { readonly startedAt: number; readonly endedAt: number },
): BrokerInput {
  const [replicaId = 0] = [...state.replicas.keys()];
  return {
    kind: 'MachineReported',
    machineId: 'p/a',
    report: {
      sequence,
      started: [],
      ended: [{ ...anEnd(replicaId, 'broken', { startedAt, endedAt }), reason: 'MUT_AGENT_STOPPED' }],
    },
  };
}

test('a task that ends its own agent each time is given up at last, long after as many preemptions as any task meets', (t) => {
  const { state, step } = open();
  let count = 0;
  for (let now = 10; state.jobs.get(1)?.status === 'running' && count < 1000; now += 60_000) {
    count += 1;
    step(now, joined());
    step(now + 10, stopped(state, 1, { startedAt: now, endedAt: now + 10 }));
    step(now + 20, { kind: 'MachineLost', machineId: 'p/a', reason: 'MUT_MACHINE_LEFT' });
    if (count === 50)
      t.deepEqual(
        explainTask(restore(snapshot(state)), { jobId: 1, taskIndex: 0, userId: 'ann', past: [] }, now)?.details.find(
          ({ code }) => code === 'task-stops',
        ),
        { code: 'task-stops', stops: 50, stopsMax: 100 },
      );
  }
  t.is(state.jobs.get(1)?.status, 'failed');
  t.is(count, 100);
});

test('a machine that reports shutdowns and stays is tried less and less, until it ends a replica by itself', (t) => {
  const { state, step } = open();
  step(1, joined());
  const pauses: number[] = [];
  let now = 10;
  for (let round = 1; round <= 10; round++) {
    // It never says that it started anything, so nothing of this counts against the task.
    step(now, stopped(state, round, { startedAt: 0, endedAt: now }));
    const until = state.machines.get('p/a')?.quarantinedUntil ?? 0;
    pauses.push((until - now) / 1000);
    now = until;
    step(now, { kind: 'TimerFired' });
    t.is(state.replicas.size, 1, 'it is tried again when the pause is over');
  }
  t.deepEqual(pauses, [5, 10, 20, 40, 80, 160, 320, 600, 600, 600]);
  const [replicaId = 0] = [...state.replicas.keys()];
  step(now + 1, {
    kind: 'MachineReported',
    machineId: 'p/a',
    report: { sequence: 11, started: [], ended: [anEnd(replicaId, 'failed', { startedAt: now, endedAt: now + 1 })] },
  });
  t.is(state.machines.get('p/a')?.shutdownCount, 0);
});
