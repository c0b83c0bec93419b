import test from 'ava';
import { type BrokerInput, brokerMachine, createBrokerState, explainTask } from '@mutirao/core/machines/broker';
import { aJob, aMachine, anEnd } from '@mutirao/testkit';

test('a machine whose disk is full is left alone for the same short while each time, and its tasks lose nothing', (t) => {
  const state = createBrokerState({ lossesMax: 3 });
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
  step(1, { kind: 'MachineJoined', providerId: 'p', facts: aMachine('p/a', { processors: 1 }), heldReplicaIds: [] });
  const [pause, rounds] = [10_000, 30];
  for (let round = 1; round <= rounds; round++) {
    const now = 2 + (round - 1) * pause;
    const [replicaId] = [...state.replicas.keys()];
    t.not(replicaId, undefined, `no replica was placed in round ${round}`);
    const full = { ...anEnd(replicaId ?? 0, 'broken', { startedAt: 0, endedAt: now }), reason: 'MUT_NO_SPACE' };
    step(now, { kind: 'MachineReported', machineId: 'p/a', report: { sequence: round, started: [], ended: [full] } });
    t.is(state.replicas.size, 0, 'it gets nothing more at once');
    const codes = explainTask(state, { jobId: 1, taskIndex: 0, userId: 'ann', past: [] }, now)?.details.map(
      ({ code }) => code,
    );
    t.true(codes?.includes('machine-disk-full'));
    step(now + pause, { kind: 'TimerFired' });
  }
  const [replicaId = 0] = [...state.replicas.keys()];
  step(2 + rounds * pause, {
    kind: 'MachineReported',
    machineId: 'p/a',
    report: { sequence: rounds + 1, started: [], ended: [anEnd(replicaId, 'succeeded', { startedAt: 2, endedAt: 3 })] },
  });
  t.is(state.jobs.get(1)?.status, 'finished');
});

test('a task that fills a disk itself is given up at last', (t) => {
  const state = createBrokerState({ lossesMax: 3, quarantine: { breakagesMax: 100, first: 1, longest: 1 } });
  const step = (now: number, ...inputs: BrokerInput[]): void => {
    brokerMachine.step(state, inputs, now);
  };
  step(
    0,
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  step(1, { kind: 'JobSubmitted', replyTo: 7, userId: 'ann', clientJobId: '', spec: aJob(1, { replicasMax: 1 }) });
  step(1, { kind: 'MachineJoined', providerId: 'p', facts: aMachine('p/a', { processors: 1 }), heldReplicaIds: [] });
  for (let round = 1; round <= 3; round++) {
    const [replicaId = 0] = [...state.replicas.keys()];
    const full = {
      ...anEnd(replicaId, 'broken', { startedAt: round * 10, endedAt: round * 10 + 5 }),
      reason: 'MUT_NO_SPACE',
    };
    step(round * 10 + 5, {
      kind: 'MachineReported',
      machineId: 'p/a',
      report: { sequence: round, started: [], ended: [full] },
    });
    step(round * 10 + 7, { kind: 'TimerFired' });
  }
  t.is(state.jobs.get(1)?.status, 'failed');
});
