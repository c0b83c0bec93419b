// A machine that reports what it was not asked for is caught for it: nothing of that counts against a task, and nothing
// ends the broker, also where a journal holds such a report.
import test from 'ava';
import {
  brokerMachine,
  createBrokerState,
  resume,
  restore,
  snapshot,
  type BrokerChange,
  type BrokerCommand,
  type BrokerInput,
  type BrokerState,
} from '@mutirao/core/machines/broker';
import type { OutputContent, ReplicaEnd } from '@mutirao/core/messages';
import { aGroup, aJob, aMachine, anEnd } from '@mutirao/testkit';

const sha256 = 'ab'.repeat(32);

function anOutput(changes: Partial<OutputContent> = {}): OutputContent {
  return {
    outputIndex: 0,
    path: '',
    content: { sha256, size: 3 },
    mode: 0o644,
    inline: undefined,
    transferId: '',
    ...changes,
  };
}

interface World {
  readonly state: BrokerState;
  step(...inputs: BrokerInput[]): {
    readonly changes: readonly BrokerChange[];
    readonly commands: readonly BrokerCommand[];
  };
  end(replicaId: number, outputs: readonly OutputContent[]): ReplicaEnd;
}

/** One machine that runs both tasks of a job with two outputs, one of which is for other machines. */
function world(): World {
  const state = createBrokerState();
  let now = 1000;
  const step: World['step'] = (...inputs) => {
    const decision = brokerMachine.step(state, inputs, (now += 1000));
    brokerMachine.checkInvariants(state);
    return decision;
  };
  const output = { root: 'playpen', localPath: '/r/{}', condition: '' } as const;
  const spec = aJob(2, {
    groups: [
      aGroup(2, {
        outputs: [
          { ...output, path: 'out' },
          { ...output, path: 'exe', condition: 'os == windows' },
        ],
      }),
    ],
  });
  step(
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'lab', address: 'here' },
    { kind: 'ProviderConnected', providerId: 'lab' },
  );
  step({
    kind: 'MachineJoined',
    providerId: 'lab',
    facts: aMachine('lab/a', { processors: 2, attributes: { os: 'linux' } }),
    heldReplicaIds: [],
  });
  step({ kind: 'JobSubmitted', replyTo: 0, userId: 'ana', clientJobId: '', spec });
  return {
    state,
    step,
    end: (replicaId, outputs) => ({ ...anEnd(replicaId, 'succeeded', { startedAt: 1, endedAt: 2 }), outputs }),
  };
}

function reported(...ended: ReplicaEnd[]): BrokerInput {
  return { kind: 'MachineReported', machineId: 'lab/a', report: { sequence: 1, started: [], ended } };
}

test('an output that was not asked for, or is there twice, costs its machine alone', (t) => {
  const cases: (readonly OutputContent[])[] = [
    [anOutput({ outputIndex: 1 })],
    [anOutput({ outputIndex: 4_000_000_000 })],
    [anOutput(), anOutput()],
    [anOutput({ path: 'a' }), anOutput({ path: 'a' })],
    [anOutput(), anOutput({ path: 'a' })],
  ];
  for (const outputs of cases) {
    const { state, step, end } = world();
    const { changes, commands } = step(reported(end(1, [anOutput()]), end(2, outputs)));
    const job = state.jobs.get(1);
    t.deepEqual(job?.queues[0]?.ready.size, 2, 'both tasks run again');
    t.deepEqual(
      [
        job?.failureCount,
        [...(job?.tasks.values() ?? [])].map(({ failureCount, lossCount }) => failureCount + lossCount),
      ],
      [0, [0, 0]],
    );
    t.like(
      changes.find(({ kind }) => kind === 'EvidenceNoted'),
      { evidence: { kind: 'report' }, isQuarantined: true },
    );
    t.true(
      commands.some(({ kind }) => kind === 'AcknowledgeReport'),
      'it would report that for ever',
    );
    t.false(
      commands.some(({ kind }) => kind === 'StartReplicas'),
      'nothing more is for it',
    );
    restore(snapshot(state));
  }
});

test('an unreadable statement of a machine costs it its replicas, and is not repeated', (t) => {
  const { state, step } = world();
  const { commands } = step(
    { kind: 'MachineMisbehaved', machineId: 'lab/a', detail: 'report.sequence is 0', sequence: 9 },
    { kind: 'MachineMisbehaved', machineId: 'lab/unknown', detail: 'x' },
  );
  t.like(
    commands.find(({ kind }) => kind === 'AcknowledgeReport'),
    { sequence: 9 },
  );
  t.deepEqual(commands.filter(({ kind }) => kind === 'CancelReplicas').length, 1);
  t.is(state.replicas.size, 0);
  t.like(
    [...state.records.values()],
    [{ identity: 'lab/a', evidence: [{ kind: 'report', detail: 'report.sequence is 0' }] }],
  );
});

test('a result that an earlier release took in with an output that was not asked for is refused after a restart', (t) => {
  const { state, step, end } = world();
  const [change] = step(reported(end(1, [anOutput()]))).changes;
  t.is(change?.kind, 'ReplicaVerifying');
  const success = state.successes.get(1);
  if (success === undefined) return t.fail('nothing is verified');
  Object.assign(success.ending, { outputs: [anOutput({ outputIndex: 7 })] });
  const restored = restore(snapshot(state));
  t.like(
    resume(restored, 9000).find(({ kind }) => kind === 'AcceptResult'),
    { outputs: [{ outputIndex: 7 }] },
  );
  brokerMachine.step(
    restored,
    [{ kind: 'ResultRefused', replicaId: 1, reason: 'MUT_BAD_REPORT', detail: 'lab/a brings output 7' }],
    10_000,
  );
  brokerMachine.checkInvariants(restored);
  t.true((restored.records.get('lab/a')?.quarantinedAt ?? 0) > 0);
  t.is(restored.jobs.get(1)?.failureCount, 0);
});

test('a task whose path a machine makes unsafe runs elsewhere, and the machine is caught', (t) => {
  const { state, step } = world();
  step({ kind: 'MachineJoined', providerId: 'lab', facts: aMachine('lab/b', { processors: 2 }), heldReplicaIds: [] });
  step({ kind: 'ReplicaUnstartable', replicaId: 1, reason: 'MUT_UNSAFE_ATTRIBUTE', detail: '$group is ".."' });
  t.deepEqual([...state.replicas.values()].map(({ task, machine }) => [task.index, machine.facts.machineId]).sort(), [
    [0, 'lab/b'],
    [1, 'lab/b'],
  ]);
  t.deepEqual([state.jobs.get(1)?.failureCount, state.jobs.get(1)?.failed.size], [0, 0]);
  t.like(
    [...state.records.values()],
    [{ identity: 'lab/a', evidence: [{ kind: 'attribute', detail: '$group is ".."', jobId: 1 }] }],
  );
});

test('a machine that claims very many processors gets a few replicas at first, more as it ends them well, and one task of any width', (t) => {
  const state = createBrokerState();
  let now = 1000;
  const step = (...inputs: BrokerInput[]): void => {
    brokerMachine.step(state, inputs, (now += 1000));
    brokerMachine.checkInvariants(state);
  };
  const heldBy = (machineId: string): number => state.machines.get(machineId)?.heldProcessors ?? 0;
  step(
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'lab', address: 'here' },
    { kind: 'ProviderConnected', providerId: 'lab' },
  );
  step({
    kind: 'MachineJoined',
    providerId: 'lab',
    facts: aMachine('lab/big', { processors: 65_536 }),
    heldReplicaIds: [],
  });
  step({ kind: 'JobSubmitted', replyTo: 0, userId: 'ana', clientJobId: '', spec: aJob(10_000, { replicasMax: 1 }) });
  t.is(heldBy('lab/big'), 64);
  step({
    kind: 'MachineJoined',
    providerId: 'lab',
    facts: aMachine('lab/small', { processors: 4 }),
    heldReplicaIds: [],
  });
  t.is(heldBy('lab/small'), 4, 'there is nothing left for others');
  const [first] = state.machines.get('lab/big')?.replicas.keys() ?? [];
  step({
    kind: 'MachineReported',
    machineId: 'lab/big',
    report: { sequence: 1, started: [], ended: [anEnd(first ?? 0, 'succeeded', { startedAt: 1, endedAt: 2_000_000 })] },
  });
  t.is(heldBy('lab/big'), 128);
  step({ kind: 'JobCancelled', replyTo: 0, userId: 'ana', jobId: 1, reason: '' });
  step({
    kind: 'MachineJoined',
    providerId: 'lab',
    facts: aMachine('lab/other', { processors: 1000 }),
    heldReplicaIds: [],
  });
  step({
    kind: 'JobSubmitted',
    replyTo: 0,
    userId: 'ana',
    clientJobId: '',
    spec: aJob(5, { processors: 300, replicasMax: 1 }),
  });
  t.is(heldBy('lab/other'), 300, 'a wide task runs nowhere');
});
