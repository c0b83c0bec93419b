import test from 'ava';

import type { BrokerInput } from '@mutirao/core/machines/broker';
import { aJob } from '@mutirao/testkit';

import type { ProviderLink } from '../../../src/providers/provider-link.ts';
import { ToProvider } from '../../../src/providers/to-provider.ts';
import type { StagedBatch, StageOrder } from '../../../src/staging/stager.ts';
import { SerialExecutor } from '../../../src/concurrency/serial-executor.ts';

const template = {
  jobId: 1,
  userId: 'ana',
  command: '',
  noOp: true,
  environment: {},
  limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
  processors: 1,
};
const order: StageOrder = {
  jobId: 1,
  userId: 'ana',
  spec: aJob(1),
  groupIndex: 0,
  groupFirst: 0,
  machineId: 'alpha/m',
  attributes: {},
  starts: [{ replicaId: 7, taskIndex: 0 }],
};
const staged: StagedBatch = {
  batch: { template, replicas: [{ replicaId: 7, taskIndex: 0, value: '', inputs: [], outputs: [] }] },
  unstartable: [],
  sources: [],
};
const start = {
  kind: 'StartReplicas',
  providerId: 'alpha',
  machineId: 'alpha/m',
  jobId: 1,
  groupIndex: 0,
  starts: order.starts,
} as const;
const cancel = {
  kind: 'CancelReplicas',
  providerId: 'alpha',
  machineId: 'alpha/m',
  replicaIds: [7],
  onlyWaiting: false,
} as const;

function prepare(
  stage: () => StagedBatch | Promise<StagedBatch>,
  about = order,
): {
  to: ToProvider;
  sent: string[];
  inputs: BrokerInput[];
  link: { epoch: number; isConnected: boolean; capabilities: string[] };
  answers: string[];
  serialExecutor: SerialExecutor<string>;
} {
  const sent: string[] = [];
  const inputs: BrokerInput[] = [];
  const answers: string[] = [];
  const link = {
    epoch: 1,
    isConnected: true,
    capabilities: ['output'],
    can: (capability: string) => link.capabilities.includes(capability),
    send: (message: { $case: string }) => sent.push(message.$case),
    sendToMachine: (_machineId: string, message: { $case: string }) => sent.push(message.$case),
  };
  const serialExecutor = new SerialExecutor<string>((error) => {
    throw error;
  });
  const to = new ToProvider(
    {
      findLink: (providerId) => (providerId === 'alpha' ? (link as unknown as ProviderLink) : undefined),
      orderOf: () => about,
      stage,
      deliver: (input) => inputs.push(input),
      answerOutput: (machineId, { state, requestId }) => answers.push(`${machineId} ${state} ${requestId}`),
      onSent: () => undefined,
    },
    serialExecutor,
  );
  return { to, sent, inputs, link, answers, serialExecutor };
}

test('a cancel never overtakes the start that it is about, although that waits for its inputs', async (t) => {
  const disk = Promise.withResolvers<StagedBatch>();
  const { to, sent, serialExecutor } = prepare(() => disk.promise);
  to.startReplicas(start);
  to.cancelReplicas(cancel);
  to.acknowledge({ kind: 'AcknowledgeReport', providerId: 'alpha', machineId: 'alpha/m', sequence: 1 });
  t.deepEqual(sent, ['acknowledged']);
  disk.resolve(staged);
  await serialExecutor.whenDone();
  t.deepEqual(sent, ['acknowledged', 'start', 'cancel']);
});

test('what was placed on an earlier connection is not sent on a later one', async (t) => {
  const disk = Promise.withResolvers<StagedBatch>();
  const { to, sent, link, serialExecutor } = prepare(() => disk.promise);
  to.startReplicas(start);
  link.epoch = 2;
  disk.resolve(staged);
  await serialExecutor.whenDone();
  t.deepEqual(sent, []);
});

test('sent contents of a job with storage affinity are reported to the broker, each once, and those of other jobs are not', (t) => {
  const content = { sha256: 'a'.repeat(64), size: 9 };
  const inputs = [
    { root: 'playpen', path: 'x', content, mode: 0o644 },
    { root: 'playpen', path: 'y', content, mode: 0o644 },
  ] as const;
  const batch = { ...staged.batch, replicas: staged.batch.replicas.map((replica) => ({ ...replica, inputs })) };
  const sources = [{ path: '/home/x', contents: [content] }];
  for (const scheduler of ['wqr', 'storage-affinity'] as const) {
    const { to, inputs: received } = prepare(() => ({ batch, unstartable: [], sources }), {
      ...order,
      spec: { ...order.spec, scheduler },
    });
    to.startReplicas(start);
    t.deepEqual(
      received,
      scheduler === 'wqr' ? [] : [{ kind: 'InputsStaged', machineId: 'alpha/m', sources, contents: [content] }],
    );
  }
});

test('a replica that cannot be sent is reported, and an otherwise empty batch is not sent', (t) => {
  const refusal = { replicaId: 7, reason: 'MUT_INPUT_MISSING', detail: 'gone' };
  const { to, sent, inputs } = prepare(() => ({
    batch: { ...staged.batch, replicas: [] },
    unstartable: [refusal],
    sources: [],
  }));
  to.startReplicas(start);
  t.deepEqual(inputs, [{ kind: 'ReplicaUnstartable', ...refusal }]);
  t.deepEqual(sent, []);
});

test('a batch without files is sent at once; for a provider that is not there nothing is', (t) => {
  const { to, sent } = prepare(() => staged);
  to.startReplicas(start);
  to.startReplicas({ ...start, providerId: 'beta' });
  to.setDemand({
    kind: 'SetDemand',
    providerId: 'alpha',
    demand: {
      pendingTasks: 1,
      processors: 1,
      taskTimeMax: undefined,
      taskTimeMean: undefined,
      deadline: undefined,
      userId: 'ana',
    },
  });
  t.deepEqual(sent, ['start', 'demand']);
});

test('a provider that cannot pass on a request for output is not sent one, and the answer is that nothing can be read', (t) => {
  const { to, sent, link, answers } = prepare(() => staged);
  const request = {
    requestId: 5,
    replicaId: 7,
    standardOutputOffset: 3,
    standardErrorOffset: 0,
    bytesMax: 9,
    wait: 1000,
  };
  to.requestOutput('alpha', 'alpha/m', request);
  t.deepEqual([sent, answers], [['outputRequest'], []]);
  link.capabilities = ['lease'];
  to.requestOutput('alpha', 'alpha/m', request);
  t.deepEqual([sent, answers], [['outputRequest'], ['alpha/m unreadable 5']]);
  // What it can is not known before it is connected: the request is dropped on its way, and asked again.
  link.isConnected = false;
  to.requestOutput('alpha', 'alpha/m', request);
  t.deepEqual(answers, ['alpha/m unreadable 5']);
});
