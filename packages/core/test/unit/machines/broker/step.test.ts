import test from 'ava';
import { brokerMachine, type BrokerCommand, type BrokerInput, createBrokerState } from '@mutirao/core/machines/broker';
import { aJob, aMachine, anEnd } from '@mutirao/testkit';

/** A broker with provider p connected, and a function that takes a step and returns its commands but for timers. */
function aBroker() {
  const state = createBrokerState();
  const step = (now: number, ...inputs: BrokerInput[]): BrokerCommand[] => {
    const { commands } = brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
    return commands.filter((command) => command.kind !== 'WakeAt' && command.kind !== 'SetDemand');
  };
  step(0, { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' }, { kind: 'ProviderConnected', providerId: 'p' });
  return { state, step };
}

function joined(machineId: string, changes = {}, heldReplicaIds: readonly number[] = []): BrokerInput {
  return { kind: 'MachineJoined', providerId: 'p', facts: aMachine(machineId, changes), heldReplicaIds };
}

test('a task runs on a machine and its result is taken', (t) => {
  const { step } = aBroker();
  t.deepEqual(step(1, { kind: 'JobSubmitted', replyTo: 7, userId: 'ann', clientJobId: 'c', spec: aJob(1) }), [
    { kind: 'Reply', replyTo: 7, reply: { ok: true, value: { jobId: 1, taskCount: 1 } } },
  ]);
  t.deepEqual(step(2, joined('p/m1')), [
    { kind: 'StartReplicas', providerId: 'p', machineId: 'p/m1', jobId: 1, groupIndex: 0, starts: [{ replicaId: 1, taskIndex: 0 }] },
  ]);
  const report = { sequence: 1, started: [], ended: [anEnd(1, 'succeeded', { startedAt: 2, endedAt: 5 })] };
  t.deepEqual(step(6, { kind: 'MachineReported', machineId: 'p/m1', report }), [
    { kind: 'AcknowledgeReport', providerId: 'p', machineId: 'p/m1', sequence: 1 },
  ]);
});
