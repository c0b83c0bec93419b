// Who gets in at the door for agents, on connections that are new and on those that are open. The agents of the
// allocations only write their environment down, so that the test can come in their place, as one with a copy would.
import { readdirSync, readFileSync, mkdirSync, rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestFn } from 'ava';
import type { MutiraoError } from '@mutirao/api/errors';
import { GridMachineServiceClient, type AttachRequest, type AttachResponse } from '@mutirao/api/machine';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { agentTrust, identityFolder, initIdentity, userTrust } from '@mutirao/runtime/identity';
import { dial, listMessages, openStream, type MessageStream } from '@mutirao/runtime/rpc';
import { inviteMachine, FakeBroker, Program, until } from '@mutirao/testkit';

const day = 24 * 3_600_000;
const loopback = 'tls://127.0.0.1:0';

/** An agent's stream, and how it ended. */
class Attachment {
  readonly client: GridMachineServiceClient;
  readonly stream: MessageStream<AttachResponse, AttachRequest>;
  isWelcome = false;
  ended: MutiraoError | undefined;

  /** Attaches as the machine of a request. */
  constructor(environment: Readonly<Record<string, string>>, index: number | string, secret: string) {
    const {
      MUTIRAO_AGENT_PROVIDER: address = '',
      MUTIRAO_CREDENTIAL: credential = '',
      MUTIRAO_AGENT_REQUEST: requestId = '',
    } = environment;
    this.client = dial(GridMachineServiceClient, address, {
      token: secret === '' ? credential : `${credential}~${secret}`,
      trust: agentTrust('/nowhere', environment),
    });
    const stream: MessageStream<AttachResponse, AttachRequest> = openStream(this.client.attach());
    this.stream = stream;
    stream.listen({
      onMessage: () => {
        this.isWelcome = true;
      },
      onClosed: (error) => {
        this.ended = error;
      },
    });
    const facts = {
      machineId: `${requestId}.${index}`,
      incarnation: `i${secret}`,
      processors: 1,
      attributes: {},
      untilUnixMs: undefined,
      requestId,
      sharedTokens: [],
      homeMarks: [],
    };
    const hello = { protocolVersion: 1, programVersion: '0', capabilities: [], speakerId: String(index) };
    stream.write({ message: { $case: 'hello', value: { hello, facts, heldReplicaIds: [] } } });
  }

  /** Waits for the end. */
  async end(): Promise<string | undefined> {
    await until(() => this.ended !== undefined, 'the stream ends');
    return this.ended?.code;
  }

  async welcome(): Promise<void> {
    await until(() => this.isWelcome || this.ended !== undefined, 'the provider answers');
    if (this.ended !== undefined) throw this.ended;
  }

  async pull(): Promise<void> {
    for await (const _message of listMessages(this.client.pullContent({ transferId: 'x' }))) break;
  }

  close(): void {
    this.stream.close();
    this.client.close();
  }
}

/** A cluster of two processors and a provider over it, and another provider of the same home. */
class Door {
  readonly home = mkdtempSync(join(tmpdir(), 'mutirao-door-'));
  readonly written = join(this.home, 'written');
  readonly programs: Program[] = [];
  provider!: Program;
  other!: Program;
  broker!: FakeBroker;
  readonly attachments: Attachment[] = [];

  async start(): Promise<void> {
    mkdirSync(this.written);
    await initIdentity({ folder: identityFolder(this.home), user: 'ana', hosts: [], lasts: day, now: Date.now() });
    const cluster = this.add('cluster', [
      '--id',
      'c1',
      '--listen',
      loopback,
      '--processors',
      '2',
      '--kill-grace',
      '100ms',
    ]);
    await cluster.start();
    const write = JSON.stringify([
      '/bin/sh',
      '-c',
      `env > "${this.written}/$MUTIRAO_AGENT_REQUEST.$MUTIRAO_PROCESS_INDEX.tmp"; mv ` +
        `"${this.written}/$MUTIRAO_AGENT_REQUEST.$MUTIRAO_PROCESS_INDEX.tmp" ` +
        `"${this.written}/$MUTIRAO_AGENT_REQUEST.$MUTIRAO_PROCESS_INDEX"; exec sleep 60`,
    ]);
    const common = ['--listen-agents', loopback, '--idle-release', '200ms', '--queue-interval', '200ms'];
    this.provider = this.add('provider', [
      '--id',
      'c1',
      '--cluster',
      cluster.address,
      '--agent-command',
      write,
      ...common,
    ]);
    this.other = this.add('provider', ['--id', 'c2', '--manager', 'none', ...common]);
    await Promise.all([this.provider.start(), this.other.start()]);
    this.broker = new FakeBroker('b1', this.provider.address, readToken(tokenPath(this.home)));
    this.broker.connect();
    await until(() => this.broker.received('settled').length > 0, 'the provider settles');
  }

  add(name: 'cluster' | 'provider', args: readonly string[]): Program {
    const program = new Program(name, ['--home', this.home, ...args], {});
    this.programs.push(program);
    return program;
  }

  /** The environment that the first process of an allocation finds. */
  async environment(): Promise<Record<string, string>> {
    this.broker.demand(8);
    await until(() => readdirSync(this.written).some((name) => name.endsWith('.0')), 'an allocation starts');
    const name = readdirSync(this.written).find((one) => one.endsWith('.0')) ?? '';
    const lines = readFileSync(join(this.written, name), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('MUTIRAO_'));
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
  }

  attach(environment: Readonly<Record<string, string>>, index: number | string, secret: string): Attachment {
    const attachment = new Attachment(environment, index, secret);
    this.attachments.push(attachment);
    return attachment;
  }

  async stop(): Promise<void> {
    for (const attachment of this.attachments) attachment.close();
    this.broker.close();
    for (const program of [...this.programs].reverse()) await program.kill('SIGTERM');
    rmSync(this.home, { recursive: true, force: true });
  }
}

const serial = test.serial as TestFn<Door>;

serial.beforeEach(async (t) => {
  t.context = new Door();
  await t.context.start();
});

serial.afterEach.always(async (t) => {
  await t.context.stop();
});

serial('agents receive the address to dial and the certificate to trust there, and need nothing else', async (t) => {
  const environment = await t.context.environment();
  t.is(environment['MUTIRAO_AGENT_PROVIDER'], t.context.provider.agentsAddress);
  t.regex(environment['MUTIRAO_CA'] ?? '', /^[A-Za-z0-9+/=]+$/);
  const agent = t.context.attach(environment, 0, 'mine');
  await agent.welcome();
  await until(() => t.context.broker.machines().length === 1, 'the machine joins');
});

serial(
  'a copied credential gets nothing: not the machine, not another one, not a content; the agent keeps its ' +
    'place, also after both restart',
  async (t) => {
    const environment = await t.context.environment();
    const agent = t.context.attach(environment, 0, 'mine');
    await agent.welcome();
    t.is(await t.context.attach(environment, 0, 'other').end(), 'MUT_CREDENTIAL_COPIED');
    t.is(await t.context.attach(environment, 0, '').end(), 'MUT_CREDENTIAL_COPIED');
    const thief = t.context.attach(environment, 99, 'other');
    t.is(await thief.end(), 'MUT_CREDENTIAL_COPIED');
    await t.throwsAsync(thief.pull(), { code: 'MUT_CREDENTIAL_COPIED' });
    t.is(agent.ended, undefined);
    await t.context.provider.crash();
    t.is(await t.context.attach(environment, 0, 'other').end(), 'MUT_CREDENTIAL_COPIED');
    await t.context.attach(environment, 0, 'mine').welcome();
  },
);

serial(
  'a copied credential gets no place under another spelling of its name, nor one whose agent has left',
  async (t) => {
    const environment = await t.context.environment();
    const agent = t.context.attach(environment, 0, 'mine');
    await agent.welcome();
    for (const spelling of ['00', '000', '0000000'])
      t.is(await t.context.attach(environment, spelling, `other${spelling}`).end(), 'MUT_CREDENTIAL_COPIED', spelling);
    await until(() => t.context.broker.received('joined').length === 1, 'the machine joins');
    agent.stream.end();
    await until(() => t.context.broker.received('lost').length === 1, 'the machine has left');
    t.is(await t.context.attach(environment, 0, 'other').end(), 'MUT_CREDENTIAL_COPIED');
    t.is(t.context.broker.received('joined').length, 1);
  },
);

serial(
  'when an allocation ends its open streams are closed, and its credential is refused on new ones and new connections',
  async (t) => {
    const environment = await t.context.environment();
    const agent = t.context.attach(environment, 0, 'mine');
    await agent.welcome();
    t.context.broker.demand(0);
    t.is(await agent.end(), 'MUT_ALLOCATION_ENDED');
    await t.throwsAsync(agent.pull(), { code: 'MUT_ALLOCATION_ENDED' });
    t.is(await t.context.attach(environment, 0, 'mine').end(), 'MUT_ALLOCATION_ENDED');
    t.is(await t.context.attach(environment, 1, 'other').end(), 'MUT_ALLOCATION_ENDED');
  },
);

serial('wrong, missing and foreign credentials are refused', async (t) => {
  const { home, provider, other } = t.context;
  const environment = await t.context.environment();
  const credential = environment['MUTIRAO_CREDENTIAL'] ?? '';
  const refused = async (parts: Readonly<Record<string, string>>): Promise<void> => {
    t.is(
      await t.context.attach({ ...environment, ...parts }, 0, 'mine').end(),
      'MUT_UNAUTHENTICATED',
      JSON.stringify(parts),
    );
  };
  await refused({ MUTIRAO_CREDENTIAL: `${credential.slice(0, -2)}AA` });
  await refused({ MUTIRAO_CREDENTIAL: credential.replace(/^q\d+/, 'q999') });
  await refused({ MUTIRAO_CREDENTIAL: '' });
  // The token of the home, which brokers show, and the credential of another provider.
  await refused({ MUTIRAO_CREDENTIAL: readToken(tokenPath(home)) });
  await refused({ MUTIRAO_AGENT_PROVIDER: other.agentsAddress });
  const invitation = { ...environment, MUTIRAO_CREDENTIAL: await inviteMachine(home, 'c2', 'pc') };
  t.is(await t.context.attach(invitation, 0, 'a secret of the machine').end(), 'MUT_INVITATION_REFUSED');
  // A user's certificate does not open this port either.
  const asUser = dial(GridMachineServiceClient, provider.agentsAddress, {
    token: credential,
    trust: userTrust(home, {}),
  });
  await t.throwsAsync(
    async () => {
      for await (const _message of listMessages(asUser.pullContent({ transferId: 'x' }))) break;
    },
    { code: 'MUT_UNAUTHENTICATED' },
  );
  asUser.close();
});

serial('an agent that trusts another authority speaks to nobody', async (t) => {
  const environment = await t.context.environment();
  const foreign = join(t.context.home, 'foreign');
  await initIdentity({ folder: foreign, user: 'ana', hosts: [], lasts: day, now: Date.now() });
  t.is(
    await t.context.attach({ ...environment, MUTIRAO_CA: join(foreign, 'ca.crt') }, 0, 'mine').end(),
    'MUT_UNTRUSTED',
  );
});
