import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type TestFn } from 'ava';
import {
  GridMachineServiceClient,
  type AttachRequest,
  type AttachResponse,
  type PushContentRequest,
} from '@mutirao/api/machine';
import { GridMachineProviderServiceClient, type SendContentRequest } from '@mutirao/api/provider';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import {
  callUnary,
  dial,
  listMessages,
  openSending,
  openStream,
  type MessageStream,
  type Sending,
} from '@mutirao/runtime/rpc';
import { inviteMachine, FakeBroker, Program, until } from '@mutirao/testkit';

const agent = fileURLToPath(new URL('../packages/testkit/src/grid/fake-agent.ts', import.meta.url));

/** A cluster, a provider over it whose agents are faked, and a faked broker. */
class ProviderUnderTest {
  readonly home = mkdtempSync(join(tmpdir(), 'mutirao-provider-'));
  readonly cluster: Program;
  provider!: Program;
  broker!: FakeBroker;

  constructor() {
    this.cluster = new Program(
      'cluster',
      ['--home', this.home, '--id', 'c1', '--processors', '4', '--requests-max', '2', '--kill-grace', '100ms'],
      {},
    );
  }

  async start(...flags: string[]): Promise<void> {
    await this.cluster.start();
    this.provider = new Program(
      'provider',
      [
        '--home',
        this.home,
        '--id',
        'c1',
        '--cluster',
        this.cluster.address,
        '--agent-command',
        JSON.stringify([process.execPath, agent]),
        '--idle-release',
        '300ms',
        '--queue-interval',
        '200ms',
        ...flags,
      ],
      {},
    );
    await this.provider.start();
    this.broker = this.connect('b1');
    await until(() => this.broker.received('settled').length > 0, 'the provider settles');
  }

  connect(name: string): FakeBroker {
    const broker = new FakeBroker(name, this.provider.address, readToken(tokenPath(this.home)));
    broker.connect();
    return broker;
  }

  async statuses(): Promise<number[]> {
    const { requests } = await callUnary(this.broker.client, 'listRequests', {}, { deadlineMs: 60_000 });
    return requests.map(({ status }) => status);
  }

  async stop(): Promise<void> {
    this.broker.close();
    await this.provider.kill('SIGTERM');
    await this.cluster.kill('SIGTERM');
    rmSync(this.home, { recursive: true, force: true });
  }
}

const serial = test.serial as TestFn<ProviderUnderTest>;

serial.beforeEach(async (t) => {
  t.context = new ProviderUnderTest();
  await t.context.start();
});

serial.afterEach.always(async (t) => {
  await t.context.stop();
});

serial(
  'demand becomes allocations, these become machines that run tasks, and they go back when nothing is wanted',
  async (t) => {
    const { broker } = t.context;
    broker.demand(8);
    await until(() => broker.machines().length === 4, 'four machines join');
    const [machine] = broker.machines();
    t.regex(machine?.facts?.machineId ?? '', /^c1\/q\d+\.\d+$/);
    t.truthy(machine?.facts?.untilUnixMs);
    broker.start(machine?.facts?.machineId ?? '', [1, 2, 3]);
    await until(() => broker.ended().length === 3, 'three replicas end');
    broker.demand(0);
    await until(() => broker.machines().length === 0, 'the machines go');
    await until(async () => (await t.context.statuses()).every((status) => status === 5), 'the requests end');
    t.true(broker.received('lost').every(({ reason }) => reason === 'MUT_ALLOCATION_ENDED'));
  },
);

serial('after a kill -9 the provider adopts its requests and agents, and no report is lost', async (t) => {
  const { broker, provider } = t.context;
  broker.demand(8);
  await until(() => broker.machines().length === 4, 'four machines join');
  const machineIds = broker.machines().map(({ facts }) => facts?.machineId ?? '');
  machineIds.forEach((machineId, index) => {
    broker.start(machineId, [10 + index], 'hold');
  });
  broker.start(machineIds[0] ?? '', [1]);
  await until(() => broker.ended().includes(1), 'replica 1 ends');
  await provider.crash();
  broker.connect();
  await until(() => broker.received('settled').length > 0, 'the provider settles');
  t.deepEqual(
    broker
      .machines()
      .map(({ facts }) => facts?.machineId ?? '')
      .sort(),
    machineIds.sort(),
  );
  t.deepEqual(
    broker
      .machines()
      .flatMap(({ heldReplicaIds }) => heldReplicaIds)
      .sort((one, other) => one - other),
    [1, 10, 11, 12, 13],
  );
  await until(() => broker.ended().includes(1), 'the report that was not acknowledged comes again');
  t.deepEqual(await t.context.statuses(), [4, 3]);
});

serial(
  'a broker that comes back hears again of what it holds, and of reports that it did not acknowledge',
  async (t) => {
    const { broker } = t.context;
    broker.demand(2);
    await until(() => broker.machines().length === 2, 'two machines join');
    const [machine] = broker.machines();
    broker.start(machine?.facts?.machineId ?? '', [5]);
    await until(() => broker.ended().length === 1, 'replica 5 ends');
    broker.close();
    const back = t.context.connect('b1');
    await until(() => back.received('settled').length > 0, 'the provider settles');
    t.is(back.machines().length, 2);
    await until(() => back.ended().includes(5), 'the report comes again');
    back.close();
  },
);

const size = 8 * 1024 * 1024;
const chunkSize = 256 * 1024;

function* getChunks(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
}

async function collect(messages: AsyncIterable<{ readonly data: Buffer }>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const { data } of messages) parts.push(data);
  return Buffer.concat(parts);
}

async function send<Out>(sending: Sending<Out, unknown>, messages: Iterable<Out>): Promise<void> {
  for (const message of messages) {
    sending.writer.write(message);
    await sending.writer.drained();
  }
  sending.writer.end();
  await sending.response;
}

serial('contents pass through the provider whole, both ways, whichever side comes first', async (t) => {
  const { broker, provider, home } = t.context;
  const agentClient = dial(GridMachineServiceClient, provider.address, {
    token: `${await inviteMachine(home, 'c1', 'lab1')}~a-secret-of-lab1-itself`,
  });
  const content = randomBytes(size);
  const put = (transferId: string): Promise<void> =>
    send<SendContentRequest>(
      openSending((done) => broker.client.sendContent(done)),
      [{ transferId, data: Buffer.alloc(0) }, ...[...getChunks(content)].map((data) => ({ transferId: '', data }))],
    );
  const stream: MessageStream<AttachResponse, AttachRequest> = openStream(agentClient.attach());
  const offered: AttachResponse[] = [];
  stream.listen({
    onMessage: (one) => {
      if (one.message?.$case === 'content') offered.push(one);
    },
    onClosed: () => undefined,
  });
  const facts = {
    machineId: 'lab1',
    incarnation: 'i',
    processors: 1,
    attributes: {},
    untilUnixMs: undefined,
    requestId: '',
    sharedTokens: [],
    homeMarks: [],
  };
  const hello = { protocolVersion: 1, programVersion: '0', capabilities: [], speakerId: 'lab1' };
  stream.write({ message: { $case: 'hello', value: { hello, facts, heldReplicaIds: [] } } });
  broker.demand(1);
  await until(() => broker.machines().some((machine) => machine.facts?.machineId === 'c1/lab1'), 'lab1 joins');
  const offer = (transferId: string): void => {
    broker.toMachine('c1/lab1', {
      $case: 'content',
      value: {
        content: { sha256: Buffer.alloc(32), sizeBytes: size },
        source: { $case: 'transferId', value: transferId },
        offset: 0,
        linkable: false,
        pathProof: '',
      },
    });
  };
  for (const transferId of ['t1', 't2']) offer(transferId);
  await until(() => offered.length === 2, 'both are offered');
  const [sentFirst, pulledFirst] = await Promise.all([
    put('t1'),
    collect(listMessages(agentClient.pullContent({ transferId: 't1' }))),
  ]);
  t.is(sentFirst, undefined);
  t.true(pulledFirst.equals(content));
  const pulling = collect(listMessages(agentClient.pullContent({ transferId: 't2' })));
  await put('t2');
  t.true((await pulling).equals(content));

  const pushing = send<PushContentRequest>(
    openSending((done) => agentClient.pushContent(done)),
    [
      {
        transferId: 't3',
        machineId: 'lab1',
        content: { sha256: Buffer.alloc(32), sizeBytes: size },
        data: Buffer.alloc(0),
        offset: 0,
      },
      ...[...getChunks(content)].map((data) => ({
        transferId: '',
        machineId: '',
        content: undefined,
        data,
        offset: 0,
      })),
    ],
  );
  await until(
    () => broker.received('fromMachine').some(({ message }) => message?.$case === 'blobUpload'),
    'the broker learns of the push',
  );
  const received = await collect(
    listMessages(broker.client.receiveContent({ transferId: 't3', offset: 0, refusal: '' })),
  );
  await pushing;
  t.true(received.equals(content));
  stream.close();
  agentClient.close();
});

serial("nobody gets in with another's credential", async (t) => {
  const { provider, home } = t.context;
  const asBroker = dial(GridMachineProviderServiceClient, provider.address, {
    token: await inviteMachine(home, 'c1', 'lab1'),
  });
  await t.throwsAsync(callUnary(asBroker, 'getResource', {}, { deadlineMs: 60_000 }), { code: 'MUT_UNAUTHENTICATED' });
  asBroker.close();
  const asAgent = dial(GridMachineServiceClient, provider.address, { token: readToken(tokenPath(home)) });
  await t.throwsAsync(collect(listMessages(asAgent.pullContent({ transferId: 't1' }))), {
    code: 'MUT_UNAUTHENTICATED',
  });
  asAgent.close();
});
