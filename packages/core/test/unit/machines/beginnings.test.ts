// A machine that begins from what a trace's head says goes on as the one that was described.
import { encodeValue, decodeValue, type Beginning } from '@mutirao/core/debugging-trace';
import {
  agentMachine,
  createAgentState,
  openAgentInitialState,
  saveAgentInitialState,
} from '@mutirao/core/machines/agent';
import {
  brokerMachine,
  createBrokerState,
  openBrokerInitialState,
  resume,
  saveBrokerInitialState,
} from '@mutirao/core/machines/broker';
import {
  clusterMachine,
  createClusterState,
  openClusterInitialState,
  saveClusterInitialState,
} from '@mutirao/core/machines/cluster';
import {
  createProviderState,
  openProviderInitialState,
  providerDefaults,
  providerMachine,
  saveProviderInitialState,
} from '@mutirao/core/machines/provider';
import { conservativeBackfilling, easyBackfilling, firstComeFirstServed } from '@mutirao/core/queue';
import { aJob } from '@mutirao/testkit';
import test from 'ava';

/** As it comes back from a file. */
function written(beginning: Beginning): Beginning {
  return decodeValue(JSON.parse(encodeValue(beginning))) as Beginning;
}

test('a broker begins resumed: the grace of providers that stay away runs from the takeover', (t) => {
  const state = createBrokerState({ suspectGrace: 1000 });
  const facts = {
    machineId: 'lab/m1',
    incarnation: 'i',
    processors: 1,
    attributes: {},
    until: undefined,
    requestId: '',
  };
  brokerMachine.step(
    state,
    [
      { kind: 'ProviderAdded', replyTo: 0, providerId: 'lab', address: 'h:1' },
      { kind: 'ProviderConnected', providerId: 'lab' },
      { kind: 'MachineJoined', providerId: 'lab', facts, heldReplicaIds: [] },
    ],
    10,
  );
  const saved = written(saveBrokerInitialState(state));
  const opened = openBrokerInitialState(saved, 5000);
  t.is(opened.options.suspectGrace, 1000);
  resume(state, 5000);
  for (const now of [5500, 5999, 6001]) {
    const wanted = brokerMachine.step(state, [{ kind: 'TimerFired' }], now);
    t.deepEqual(brokerMachine.step(opened, [{ kind: 'TimerFired' }], now), wanted);
    t.is(
      wanted.changes.some(({ kind }) => kind === 'MachineLost'),
      now === 6001,
    );
  }
});

for (const policy of [
  firstComeFirstServed,
  easyBackfilling,
  conservativeBackfilling('start-now'),
  conservativeBackfilling('reinsert'),
]) {
  test(`a cluster begins with its queue, under ${policy.name}`, (t) => {
    const state = createClusterState({
      policy,
      processors: 4,
      requestsMax: 5,
      widthMax: 4,
      walltimeMax: 1000,
      walltimeGranularity: 1,
      endedMax: 10,
    });
    const order = {
      userId: 'ana',
      width: 3,
      walltime: 100,
      command: ['x'],
      environment: {},
      workingDirectory: '',
      clientRequestId: '',
    };
    clusterMachine.step(
      state,
      [
        { kind: 'ClusterStarted' },
        { kind: 'AllocationRequested', replyTo: 1, order },
        { kind: 'AllocationRequested', replyTo: 2, order },
      ],
      10,
    );
    const opened = openClusterInitialState(written(saveClusterInitialState(state)));
    t.is(opened.options.policy.name, policy.name);
    t.deepEqual(
      clusterMachine.step(opened, [{ kind: 'ClusterStarted' }], 50),
      clusterMachine.step(state, [{ kind: 'ClusterStarted' }], 50),
    );
  });
}

test('a cluster begins with its scores, and its queue in their order', (t) => {
  const order = { weight: 1440, leadMax: 1e9 };
  const state = createClusterState({
    policy: easyBackfilling,
    order,
    processors: 4,
    requestsMax: 9,
    widthMax: 4,
    walltimeMax: 1e7,
    walltimeGranularity: 1,
    endedMax: 10,
  });
  const asked = (userId: string) => ({
    kind: 'AllocationRequested' as const,
    replyTo: 1,
    order: {
      userId,
      width: 4,
      walltime: 3_600_000,
      command: ['x'],
      environment: {},
      workingDirectory: '',
      clientRequestId: '',
    },
  });
  clusterMachine.step(
    state,
    [
      { kind: 'ClusterStarted' },
      asked('ana'),
      ...[0, 1, 2, 3].map((processIndex) => ({
        kind: 'ProcessExited' as const,
        requestId: 1,
        processIndex,
        exitStatus: 0,
      })),
    ],
    10,
  );
  clusterMachine.step(state, ['bia', 'ana', 'caio'].map(asked), 20);
  const opened = openClusterInitialState(written(saveClusterInitialState(state)));
  t.deepEqual([...opened.plan.waiting.keys()], [4, 3]);
  t.deepEqual([...opened.scores], [['ana', { score: 56, countedCount: 1, precisionMean: 0 }]]);
  t.deepEqual(
    clusterMachine.step(opened, [{ kind: 'ClusterStarted' }], 50),
    clusterMachine.step(state, [{ kind: 'ClusterStarted' }], 50),
  );
});

test('a provider begins with what it promised, an agent with nothing', (t) => {
  const state = createProviderState({ ...providerDefaults, providerId: 'alpha' });
  providerMachine.step(state, [{ kind: 'ProviderStarted', instance: 'one' }], 10);
  const opened = openProviderInitialState(written(saveProviderInitialState(state)));
  t.deepEqual(opened.config, state.config);
  t.is(opened.instance, 'one');
  const options = {
    processors: 2,
    unacknowledgedMax: 9,
    unacknowledgedBytesMax: 9,
    killGrace: 9,
    endHold: { longest: 9, isForAll: true },
    startedDelay: 9,
    reportInterval: 9,
    contentBytesMax: 9,
    prefetchMax: 9,
  };
  const agent = createAgentState(options);
  const saved = written(saveAgentInitialState(agent));
  agentMachine.step(agent, [{ kind: 'ProviderAttached' }], 10);
  t.deepEqual(openAgentInitialState(saved), createAgentState(options));
});

test('what this release does not know is a broken invariant', (t) => {
  const state = createBrokerState();
  brokerMachine.step(state, [{ kind: 'JobSubmitted', replyTo: 1, userId: 'ana', clientJobId: '', spec: aJob(1) }], 1);
  const saved = JSON.parse(JSON.stringify(saveBrokerInitialState(state)).replace('"wqr"', '"dice"')) as Beginning;
  t.throws(() => openBrokerInitialState(saved, 1), { message: /there is no scheduler dice/ });
});
