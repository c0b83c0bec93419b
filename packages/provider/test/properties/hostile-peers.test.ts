// Whatever a broker or a machine says in any field of a message on its stream, the provider refuses it or takes it,
// stays whole, and comes back from its journal.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { decodeAllocationRequest, decodeMachineFacts } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { AttachRequest, AttachResponse, Outcome } from '@mutirao/api/machine';
import { ConnectRequest, ConnectResponse } from '@mutirao/api/provider';
import { Root } from '@mutirao/api/common';
import {
  createProviderState,
  providerDefaults,
  providerMachine,
  type ProviderChange,
  type ProviderCommand,
  type ProviderInput,
  type ProviderState,
} from '@mutirao/core/machines/provider';
import { MachineDriver } from '@mutirao/runtime/driver';
import { openJournal } from '@mutirao/runtime/journal';
import { quietLogger } from '@mutirao/runtime/log';
import type { MessageStream, StreamListener } from '@mutirao/runtime/rpc';
import { aCallContext, hostileMessages, temporaryFolder } from '@mutirao/testkit';
import { AgentGate } from '../../src/agent-gate.ts';
import { providerChangeCodec } from '../../src/change-codec.ts';
import { openStandby } from '../../src/standby/open-standby.ts';
import { TaskMeasure } from '../../src/relay/measure.ts';
import { Relay, type RelayCommand } from '../../src/relay/relay.ts';

const start = 1_785_000_000_000;
const config = { ...providerDefaults, providerId: 'lab', heuristic: 'static', resourceKind: 'machines' as const };

/** A stream whose peer is the test. */
class PeerStream implements MessageStream<Buffer, Buffer> {
  onDrain: (() => void) | undefined;
  isClosed = false;
  readonly written: Buffer[] = [];
  #listener: StreamListener<Buffer> | undefined;

  /** Delivers a message to the provider. @throws what closes the stream. */
  say(message: Buffer): void {
    if (this.isClosed) throw new MutiraoError('MUT_CANCELLED', 'closed');
    this.#listener?.onMessage(message);
  }

  write(message: Buffer): boolean {
    this.written.push(message);
    return true;
  }

  listen(listener: StreamListener<Buffer>): void {
    this.#listener = listener;
  }

  close(error?: MutiraoError): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#listener?.onClosed(error);
  }

  end(): void {
    this.close();
  }
  pause(): void {
    /* The test says what it has to say. */
  }
  resume(): void {
    /* See above. */
  }
  drained(): Promise<void> {
    return Promise.resolve();
  }
}

/** A provider of machines, with its relay, its journal and what it keeps for brokers that are away. */
class Bench {
  readonly state: ProviderState = createProviderState(config);
  readonly faults: unknown[] = [];
  readonly relay: Relay;
  readonly driver: MachineDriver<ProviderState, ProviderInput, ProviderChange, ProviderCommand>;
  readonly #journal;
  readonly #measure = new TaskMeasure({ now: () => this.now });
  readonly #standby;
  now = start;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    this.#journal = openJournal<ProviderChange>({ path: ':memory:', codec: providerChangeCodec });
    const database = this.#journal.database;
    const deliver = (input: ProviderInput): void => {
      this.driver.deliver(input);
    };
    this.#standby = openStandby({
      directory,
      database,
      state: this.state,
      ownerId: 'ana',
      spoolBytesMax: 1 << 20,
      contents: undefined,
      measure: this.#measure,
      log: quietLogger,
      deliver,
      reportBroker: (brokerId, message) => {
        this.relay.reportBroker(brokerId, message);
      },
    });
    this.relay = new Relay({
      providerId: 'lab',
      measure: this.#measure,
      log: quietLogger,
      clock: { now: () => this.now },
      gate: new AgentGate(database, { findWidth: () => 4 }, { join: () => undefined }),
      ownerId: 'ana',
      deliver,
      standby: this.#standby.standby,
    });
    this.driver = new MachineDriver({
      machine: providerMachine,
      state: this.state,
      journal: this.#journal,
      clock: { now: () => this.now },
      timers: { start: () => undefined, cancel: () => undefined },
      checkEvery: 1,
      perform: (command) => {
        this.relay.perform(command as RelayCommand);
      },
      onCommitted: (entries) => {
        for (const { change } of entries) this.#standby.receive(change);
      },
      onFatal: (error) => {
        this.faults.push(error);
      },
    });
    this.driver.deliver({ kind: 'ProviderStarted', instance: 'i' });
  }

  broker(
    hello: Buffer = connect({
      $case: 'hello',
      value: {
        protocolVersion: 1,
        programVersion: '0',
        capabilities: ['statuses', 'resource'],
        speakerId: 'b1',
        instance: 'j',
      },
    }),
  ): PeerStream {
    const stream = new PeerStream();
    this.relay.connectBroker(stream, { userId: 'ana' });
    stream.say(hello);
    return stream;
  }

  machine(hello: Buffer = getHello('pc0')): PeerStream {
    const stream = new PeerStream();
    this.relay.attachAgent(stream, aCallContext({ userId: 'machine:pc0', credential: 't~s' }));
    stream.say(hello);
    return stream;
  }

  /** Lets everything that was said take effect, and time pass. */
  async settle(): Promise<void> {
    for (const input of this.#measure.take()) this.driver.deliver(input);
    do await new Promise(setImmediate);
    while (this.driver.waitingCount > 0);
    this.now += 60_000;
    this.driver.deliver({ kind: 'TimerFired' });
    do await new Promise(setImmediate);
    while (this.driver.waitingCount > 0);
  }

  /** Starts a machine again from the journal alone, as after a fall. */
  checkRestart(): void {
    const again = createProviderState(config);
    for (const { change } of this.#journal.read({ after: 0, limit: 10_000 })) providerMachine.apply(again, change);
    providerMachine.step(again, [{ kind: 'ProviderStarted', instance: 'another' }], this.now);
    providerMachine.checkInvariants(again);
  }

  async stop(): Promise<void> {
    this.#standby.standby.close();
    await this.driver.stop();
    this.#journal.close();
  }
}

function connect(message: NonNullable<ConnectRequest['message']>): Buffer {
  return Buffer.from(ConnectRequest.encode({ message }).finish());
}

function attach(message: NonNullable<AttachRequest['message']>): Buffer {
  return Buffer.from(AttachRequest.encode({ message }).finish());
}

function getHello(machineId: string): Buffer {
  const facts = {
    machineId,
    incarnation: 'one',
    processors: 4,
    attributes: { os: 'linux' },
    untilUnixMs: start + 1e9,
    requestId: '',
    sharedTokens: [],
    homeMarks: ['m'],
    identity: 'host',
    takesGangs: true,
    reportDelayMs: 100,
    reservation: { resourceId: 'r', reservationId: 7, revision: 1, userId: 'ana', mark: 'm' },
  };
  const hello = {
    protocolVersion: 1,
    programVersion: '0',
    capabilities: ['gang'],
    speakerId: machineId,
    sentUnixMs: start,
  };
  return attach({ $case: 'hello', value: { hello, facts, heldReplicaIds: [1, 2] } });
}

const content = { sha256: Buffer.alloc(32, 1), sizeBytes: 9 };
const template = {
  jobId: 1,
  userId: 'ana',
  command: 'true',
  noOp: false,
  environment: { A: 'b' },
  limits: { runTimeMsMax: 1000, memoryBytesMax: 0, outputBytesMax: 0 },
  processors: 1,
  dropToken: '',
  homeChallenge: 'c',
  dropProof: '',
};
const replica = {
  replicaId: 5,
  taskIndex: 0,
  value: 'v',
  inputs: [],
  outputs: [{ root: Root.PLAYPEN, path: 'out', keep: false }],
};
const inputs = [{ root: Root.PLAYPEN, path: 'in', content, mode: 0o644 }];
const claim = [
  '{"alg":"EdDSA","kid":"k"}',
  JSON.stringify({
    iss: 'm',
    sub: 'ana',
    aud: 'r',
    nbf: 1,
    exp: 2,
    jti: '7.1',
    start_unix_ms: start,
    end_unix_ms: start + 1e9,
    amount: 2,
    units: '0-1',
  }),
  'signature',
]
  .map((part) => Buffer.from(part).toString('base64url'))
  .join('.');
const quantiles = { endedCount: 4, cutOffCount: 1, p50Ms: 10, p90Ms: 20, ninetyNinthMsMax: 30 };

function ofBroker(): Buffer[] {
  const toMachine = (
    message: NonNullable<Extract<NonNullable<ConnectRequest['message']>, { $case: 'toMachine' }>['value']['message']>,
  ): Buffer => connect({ $case: 'toMachine', value: { machineId: 'lab/pc0', message } });
  return [
    connect({
      $case: 'demand',
      value: {
        pendingTasks: 5,
        processors: 1,
        taskTimeMsMax: 1000,
        taskTimeMsMean: 500,
        deadlineUnixMs: start + 1e6,
        userId: 'ana',
        unplacedTasks: 3,
        taskTimes: quantiles,
        reserved: [{ claim, processors: 2, startUnixMs: start, endUnixMs: start + 9, reservedProcessors: 2 }],
        gangProcessors: 2,
        statedTimeMs: 100,
      },
    }),
    connect({
      $case: 'lease',
      value: {
        sequence: 1,
        horizonMs: 600_000,
        groups: [
          {
            start: { template, replicas: [replica, { ...replica, replicaId: 6, inputs }] },
            requirements: 'os == linux',
            taskTimeMs: 100,
          },
        ],
        quarantinedIdentities: ['bad'],
      },
    }),
    connect({ $case: 'leaseRevocation', value: { replicaIds: [5] } }),
    toMachine({ $case: 'start', value: { template, replicas: [replica] } }),
    toMachine({ $case: 'cancel', value: { replicaIds: [5], onlyWaiting: false } }),
    toMachine({ $case: 'acknowledged', value: { sequence: 1 } }),
    toMachine({
      $case: 'content',
      value: { content, source: { $case: 'transferId', value: 't' }, offset: 1, linkable: false, pathProof: 'p' },
    }),
    toMachine({
      $case: 'startGang',
      value: { replicaId: 5, members: [{ rank: 0, name: 'n', addresses: ['a:1'], processors: 1 }] },
    }),
  ];
}

function ofMachine(): Buffer[] {
  const ended = {
    replicaId: 1,
    outcome: Outcome.SUCCEEDED,
    exitStatus: 0,
    startedUnixMs: start,
    endedUnixMs: start + 5,
    reason: '',
    detail: { code: '', parameters: {}, text: 'd' },
    standardOutput: Buffer.from('o'),
    standardError: Buffer.alloc(0),
    outputTruncated: false,
    outputs: [
      { outputIndex: 0, path: 'out', content, mode: 0o644, inline: undefined, transferId: 't1', droppedName: '' },
    ],
    staging: {
      inputsAskedUnixMs: start,
      inputsHereUnixMs: start,
      inputsPlacingUnixMs: start,
      commandEndedUnixMs: start,
    },
  };
  return [
    attach({
      $case: 'report',
      value: {
        sequence: 1,
        started: [{ replicaId: 2, startedUnixMs: start }],
        ended: [ended],
        gangMemberReady: [{ replicaId: 3, name: 'ana@a', addresses: ['a:1'] }],
      },
    }),
    attach({
      $case: 'blobRequest',
      value: {
        contents: [content],
        offsets: [3],
        overWire: false,
        sharedTokens: [],
        challenge: 'c',
        homeProofs: ['p'],
      },
    }),
  ];
}

const counts = { taken: 0, refused: 0 };

/** A provider with peers that one of them speaks to. */
interface Scene {
  readonly bench: Bench;
  readonly peers: PeerStream[];
}

/** Providers with one kind of preparation; one that has only refused messages receives the next one too. */
class Scenes {
  readonly #t: ExecutionContext;
  readonly #folder: string;
  readonly #prepare: (bench: Bench) => Promise<PeerStream[]>;
  #scene: Scene | undefined;

  constructor(t: ExecutionContext, prepare: (bench: Bench) => Promise<PeerStream[]>) {
    this.#t = t;
    this.#folder = join(temporaryFolder(t), 'provider');
    this.#prepare = prepare;
  }

  /** Delivers a hostile message to a provider. @param say returns the peers that are connected afterwards. */
  async receive(what: string, say: (scene: Scene) => PeerStream[]): Promise<void> {
    const scene = (this.#scene ??= await this.#open());
    try {
      const peers = say(scene);
      counts.taken += 1;
      await scene.bench.settle();
      checkWords(peers);
      await this.close(what);
    } catch (error) {
      if (error instanceof MutiraoError && error.code !== 'MUT_INTERNAL') counts.refused += 1;
      else this.#t.fail(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
    }
    if (scene.bench.faults.length > 0) await this.close(what);
  }

  /** Ends the present provider: its machine has to be whole, also when it starts again. */
  async close(what: string): Promise<void> {
    const { bench } = this.#scene ?? {};
    this.#scene = undefined;
    if (bench === undefined) return;
    for (const fault of bench.faults) this.#t.fail(`${what}: ${fault instanceof Error ? fault.stack : String(fault)}`);
    bench.checkRestart();
    await bench.stop();
  }

  async #open(): Promise<Scene> {
    const bench = new Bench(this.#folder);
    return { bench, peers: await this.#prepare(bench) };
  }
}

/** What the provider says because of it, an honest peer takes. */
function checkWords([broker, machine]: readonly PeerStream[]): void {
  for (const bytes of machine?.written ?? []) AttachResponse.decode(bytes);
  for (const bytes of broker?.written ?? []) checkWord(ConnectResponse.decode(bytes));
}

function checkWord({ message }: ConnectResponse): void {
  if (message?.$case === 'joined') decodeMachineFacts(message.value.facts);
  if (message?.$case === 'requests') message.value.requests.forEach(decodeAllocationRequest);
}

test('no field of the greeting of a broker or a machine ends the provider', async (t) => {
  const hello = connect({
    $case: 'hello',
    value: {
      protocolVersion: 1,
      programVersion: '0',
      capabilities: ['statuses', 'resource'],
      speakerId: 'b1',
      instance: 'j',
      sentUnixMs: start,
      resourceId: 'r',
      homeChallenge: 'c',
    },
  });
  const alone = new Scenes(t, () => Promise.resolve([]));
  for (const { what, bytes } of hostileMessages('mutirao.provider.v1.ConnectRequest', hello))
    await alone.receive(what, ({ bench }) => [bench.broker(bytes)]);
  await alone.close('at the end');
  const withBroker = new Scenes(t, (bench) => Promise.resolve([bench.broker()]));
  for (const { what, bytes } of hostileMessages('mutirao.machine.v1.AttachRequest', getHello('pc0')))
    await withBroker.receive(what, ({ bench, peers }) => [...peers, bench.machine(bytes)]);
  await withBroker.close('at the end');
  t.true(counts.taken > 100 && counts.refused > 100, JSON.stringify(counts));
});

test('no field of any message of a broker ends the provider', async (t) => {
  const scenes = new Scenes(t, async (bench) => {
    const peers = [bench.broker(), bench.machine()];
    await bench.settle();
    return peers;
  });
  for (const honest of ofBroker()) {
    for (const { what, bytes } of hostileMessages('mutirao.provider.v1.ConnectRequest', honest)) {
      await scenes.receive(what, ({ peers }) => {
        peers[0]?.say(bytes);
        return peers;
      });
    }
  }
  await scenes.close('at the end');
  t.true(counts.taken > 100 && counts.refused > 100, JSON.stringify(counts));
});

test('no field of any message of a machine ends the provider, also while it stands in for a broker', async (t) => {
  for (const isAway of [false, true]) {
    const scenes = new Scenes(t, async (bench) => {
      const peers = [bench.broker(), bench.machine()];
      for (const honest of ofBroker().slice(0, 2)) peers[0]?.say(honest);
      await bench.settle();
      if (isAway) peers[0]?.close();
      await bench.settle();
      return peers;
    });
    for (const honest of ofMachine()) {
      for (const { what, bytes } of hostileMessages('mutirao.machine.v1.AttachRequest', honest)) {
        await scenes.receive(`${what}${isAway ? ' while the broker is away' : ''}`, ({ peers }) => {
          peers[1]?.say(bytes);
          return peers;
        });
      }
    }
    await scenes.close('at the end');
  }
  t.log(counts);
  t.true(counts.taken > 100 && counts.refused > 100, JSON.stringify(counts));
});
