import test from 'ava';
import { type BrokerInput, brokerMachine, createBrokerState, explainTask } from '@mutirao/core/machines/broker';
import { aJob, aMachine } from '@mutirao/testkit';

test('a machine that runs tasks of its owner only gets none of other users, who see why they wait', (t) => {
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
  step(1, {
    kind: 'MachineJoined',
    providerId: 'p',
    facts: aMachine('p/a', { processors: 4, onlyUser: 'ann' }),
    heldReplicaIds: [],
  });
  step(1, { kind: 'JobSubmitted', replyTo: 7, userId: 'eva', clientJobId: '', spec: aJob(1, { replicasMax: 1 }) });
  t.is(state.replicas.size, 0);
  const explained = explainTask(state, { jobId: 1, taskIndex: 0, userId: 'eva', past: [] }, 2);
  t.deepEqual(explained?.details[0], { code: 'machine-of-one-user', machineId: 'p/a', userId: 'ann' });
  step(2, { kind: 'JobSubmitted', replyTo: 8, userId: 'ann', clientJobId: '', spec: aJob(1, { replicasMax: 1 }) });
  t.deepEqual(
    [...state.replicas.values()].map(({ job, machine }) => [job.userId, machine.facts.machineId]),
    [['ann', 'p/a']],
  );
  step(3, { kind: 'MachineJoined', providerId: 'p', facts: aMachine('p/b'), heldReplicaIds: [] });
  t.deepEqual(
    [...state.replicas.values()].map(({ job, machine }) => [job.userId, machine.facts.machineId]),
    [
      ['ann', 'p/a'],
      ['eva', 'p/b'],
    ],
  );
});
