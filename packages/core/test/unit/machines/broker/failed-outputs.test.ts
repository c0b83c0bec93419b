// What a failed task leaves is brought home once: by the run that may be its last.
import test from 'ava';
import { brokerMachine, createBrokerState, type BrokerCommand, type BrokerInput } from '@mutirao/core/machines/broker';
import { aGroup, aJob, aMachine, anEnd } from '@mutirao/testkit';

interface Plan {
  readonly failuresMax: number;
  readonly replicasMax: number;
  readonly hasOutputs?: boolean;
}

/** Whether each run of a task that fails again and again is to bring its outputs only where it succeeds. */
function flagsOf({ failuresMax, replicasMax, hasOutputs = true }: Plan): readonly boolean[] {
  const state = createBrokerState();
  const outputs = hasOutputs ? [{ root: 'playpen' as const, path: 'log', localPath: '/home/log', condition: '' }] : [];
  const commands: BrokerCommand[] = [];
  let now = 0;
  const step = (...inputs: BrokerInput[]): void => {
    commands.push(...brokerMachine.step(state, inputs, (now += 1_000_000)).commands);
  };
  step(
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
    { kind: 'MachineJoined', providerId: 'p', facts: aMachine('p/a'), heldReplicaIds: [] },
  );
  step({
    kind: 'JobSubmitted',
    replyTo: 1,
    userId: 'ann',
    clientJobId: '',
    spec: aJob(1, { groups: [aGroup(1, { outputs })], failuresMax, replicasMax }),
  });
  for (let run = 1; run <= failuresMax; run += 1) {
    const report = { sequence: run, started: [], ended: [anEnd(run, 'failed', { startedAt: now, endedAt: now + 10 })] };
    step({ kind: 'MachineReported', machineId: 'p/a', report });
    step({ kind: 'TimerFired' });
  }
  return commands.flatMap((command) =>
    command.kind === 'StartReplicas' ? command.starts.map(({ onSuccessOnly }) => onSuccessOnly === true) : [],
  );
}

test('only the run whose failure may be the last brings what it leaves', (t) => {
  t.deepEqual(flagsOf({ failuresMax: 1, replicasMax: 1 }), [false]);
  t.deepEqual(flagsOf({ failuresMax: 4, replicasMax: 1 }), [true, true, true, false]);
});

test('where siblings may fail, a run counts their failures too', (t) => {
  t.deepEqual(flagsOf({ failuresMax: 4, replicasMax: 2 }), [true, true, false, false]);
});

test('nothing is said of tasks without outputs', (t) => {
  t.deepEqual(flagsOf({ failuresMax: 2, replicasMax: 1, hasOutputs: false }), [false, false]);
});
