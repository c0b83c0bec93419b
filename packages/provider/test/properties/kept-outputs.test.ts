// A provider that keeps outputs for a broker, while pushes end and the broker comes and goes at any moment: the real
// relay, standby, spool and routes, without sockets.
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { encodeContent, encodeReport } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { AttachRequest, PushContentRequest, type Report } from '@mutirao/api/machine';
import { ConnectRequest, ConnectResponse, ReceiveContentRequest, ReceiveContentResponse } from '@mutirao/api/provider';
import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { Content, MachineFacts, OutputContent } from '@mutirao/core/messages';
import { systemClock } from '@mutirao/runtime/driver';
import { quietLogger } from '@mutirao/runtime/log';
import type { StreamWriter } from '@mutirao/runtime/rpc';
import {
  aCallContext,
  anEnd,
  HandTimers,
  ProviderHarness,
  runs,
  streamPair,
  temporaryFolder,
  until,
  type StreamEnd,
} from '@mutirao/testkit';
import { AgentGate } from '../../src/agent-gate.ts';
import { openStandby, type OpenedStandby } from '../../src/standby/open-standby.ts';
import { MachineCredentials } from '../../src/machines/machine-credentials.ts';
import { TaskMeasure } from '../../src/relay/measure.ts';
import { Relay } from '../../src/relay/relay.ts';
import { machineRoutes, providerRoutes, type ProviderHost } from '../../src/routes.ts';
import { PushedContents } from '../../src/transfers/pushed-contents.ts';
import { TransferExchange } from '../../src/transfers/transfer-exchange.ts';

const machineId = 'p/m';
const facts: MachineFacts = {
  machineId,
  incarnation: 'i',
  processors: 1,
  attributes: {},
  until: undefined,
  requestId: '',
};
const hello = { protocolVersion: 1, programVersion: '0', capabilities: [] };

const kinds = [
  'push',
  'push',
  'end',
  'end',
  'report',
  'leave',
  'come',
  'come',
  'join',
  'drain',
  'drain',
  'drain',
  'fetch',
  'fetch',
  'acknowledge',
] as const;
const anyAction = fc.record({ kind: fc.constantFrom(...kinds), pick: fc.nat() });
type Action = typeof anyAction extends fc.Arbitrary<infer T> ? T : never;

/** A push whose last bytes come when the test says so. Two of three bring the same bytes. */
interface Push {
  readonly transferId: string;
  readonly bytes: Buffer;
  end(): void;
  /** The provider has answered. */
  isOver: boolean;
  /** It answered that all is well. */
  isSafe: boolean;
  isReported: boolean;
}

/** A stream of the broker: what it received there, and what the provider waits for. */
class Connection {
  readonly announced = new Set<string>();
  readonly near: StreamEnd<Buffer, Buffer>;
  readonly far: StreamEnd<Buffer, Buffer>;
  lastSequence = 0;
  #drains: (() => void)[] = [];

  constructor() {
    [this.near, this.far] = streamPair<Buffer, Buffer>();
    this.far.drained = () =>
      new Promise((resolve) => {
        this.#drains.push(resolve);
      });
  }

  drain(): void {
    for (const resolve of this.#drains.splice(0)) resolve();
  }
}

class World {
  readonly faults: string[] = [];
  readonly pushes: Push[] = [];
  /** What the broker has at home. */
  readonly fetched = new Set<string>();
  readonly exchange = new TransferExchange({
    timers: new HandTimers(),
    waitMax: 60_000,
    transfersMax: 100,
    passing: { note: () => undefined },
  });
  readonly #pushed = new PushedContents();
  readonly #opened: OpenedStandby;
  readonly #relay: Relay;
  readonly #host: ProviderHost;
  readonly #agent: StreamEnd<Buffer, Buffer>;
  /** Announced, and not fetched yet. */
  #wanted: string[] = [];
  #fetchingCount = 0;
  #keptSequences: number[] = [];
  #sequence = 0;
  #connection: Connection | undefined;

  constructor(t: ExecutionContext) {
    const database = new DatabaseSync(':memory:');
    const machines = new MachineCredentials(database, systemClock);
    const gate = new AgentGate(database, { findWidth: () => 4 }, machines);
    const measure = new TaskMeasure({ now: () => 7 });
    const { state } = new ProviderHarness();
    state.machines.set(machineId, { brokerId: 'b' } as unknown as NonNullable<ReturnType<typeof state.machines.get>>);
    const shared = { measure, log: quietLogger, ownerId: 'ana' };
    this.#opened = openStandby({
      ...shared,
      directory: temporaryFolder(t),
      database,
      state,
      spoolBytesMax: 1_000_000,
      contents: undefined,
      reportBroker: () => undefined,
      deliver: (input) => {
        this.#take(input);
      },
    });
    const { standby } = this.#opened;
    this.#relay = new Relay({
      ...shared,
      providerId: 'p',
      standby,
      clock: systemClock,
      gate,
      deliver: () => undefined,
      onKeeping: (agent) => {
        this.#pushed.divert(agent);
      },
      onRouted: (agent) => {
        this.#pushed.repeat(agent);
      },
    });
    this.#host = {
      state,
      relay: this.#relay,
      gate,
      machines,
      agentsPlace: () => ({ address: '', authority: '' }),
      ownerId: 'ana',
      enrolled: undefined,
      standby,
      exchange: this.exchange,
      pushed: this.#pushed,
      clock: systemClock,
      trouble: () => undefined,
      queueTrouble: () => '',
      usesOf: () => [],
      ask: () => Promise.reject(new MutiraoError('MUT_UNIMPLEMENTED', 'nobody asks')),
    };
    this.#agent = this.#attach();
  }

  async perform({ kind, pick }: Action): Promise<void> {
    switch (kind) {
      case 'push':
        this.#push();
        break;
      case 'end':
        await this.#end(
          choose(
            this.pushes.filter(({ isOver }) => !isOver),
            pick,
          ),
        );
        break;
      case 'report':
        this.#report();
        break;
      case 'leave':
        this.#leave();
        break;
      case 'come':
        this.#come();
        break;
      // The agent attached again, say.
      case 'join':
        if (this.#connection !== undefined) this.#join();
        break;
      case 'drain':
        this.#connection?.drain();
        break;
      case 'fetch':
        this.#fetch(pick);
        break;
      case 'acknowledge':
        this.#acknowledge();
        break;
    }
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  }

  /** Brings the broker back, ends all pushes, and lets the broker receive and fetch everything. */
  async settle(): Promise<void> {
    this.#come();
    await nextTurn();
    for (const push of this.pushes) push.end();
    await this.#goOnUntil(() => this.pushes.every(({ isOver }) => isOver), 'all pushes are over');
    this.#report();
    await this.#goOnUntil(() => this.#connection?.lastSequence === this.#sequence, 'the broker has heard all reports');
    await this.#goOnUntil(() => this.#wanted.length === 0 && this.#fetchingCount === 0, 'the broker has fetched all');
    for (const { transferId, isSafe } of this.pushes)
      if (isSafe && !this.fetched.has(transferId)) this.faults.push(`${transferId} never came home`);
    if (this.exchange.openCount > 0) this.faults.push(`${this.exchange.openCount} transfers wait for nobody`);
  }

  async #goOnUntil(holds: () => boolean, what: string): Promise<void> {
    await until(
      () => {
        this.#connection?.drain();
        this.#fetch(0);
        return holds();
      },
      what,
      30_000,
    );
  }

  /** The last bytes of a push come; what is being kept is written to the disk. */
  async #end(push: Push | undefined): Promise<void> {
    push?.end();
    for (let turn = 0; turn < 50 && push?.isOver === false; turn += 1) await nextTurn();
  }

  /**
   * What the provider's machine would do: it journals a report and acknowledges it, and forgets what the broker has.
   */
  #take(input: ProviderInput): void {
    if (input.kind === 'ReportMade') {
      this.#keptSequences.push(input.sequence);
      const attachmentId = 1;
      queueMicrotask(() => {
        this.#relay.perform({ kind: 'AcknowledgeSpooled', machineId, attachmentId, sequence: input.sequence });
      });
    }
    if (input.kind === 'SpooledAcknowledged') {
      this.#keptSequences = this.#keptSequences.filter((sequence) => sequence > input.sequence);
      this.#opened.receive({ kind: 'ReportsForgotten', machineId, incarnation: 'i', upTo: input.sequence });
    }
  }

  #attach(): StreamEnd<Buffer, Buffer> {
    const [near, far] = streamPair<Buffer, Buffer>();
    this.#relay.attachAgent(far, aCallContext({ userId: 'machine:m' }));
    near.listen({ onMessage: () => undefined, onClosed: () => undefined });
    const reported = {
      machineId: 'm',
      incarnation: 'i',
      processors: 1,
      attributes: {},
      untilUnixMs: undefined,
      requestId: '',
      sharedTokens: [],
      homeMarks: [],
    };
    near.write(
      Buffer.from(
        AttachRequest.encode({
          message: {
            $case: 'hello',
            value: { hello: { ...hello, speakerId: 'm' }, facts: reported, heldReplicaIds: [] },
          },
        }).finish(),
      ),
    );
    return near;
  }

  #push(): void {
    const transferId = `t${this.pushes.length}`;
    const bytes = Buffer.from(`bytes ${this.pushes.length % 3}`.padEnd(50, this.pushes.length % 3 === 0 ? '.' : ' '));
    const ended = Promise.withResolvers<undefined>();
    const push: Push = {
      transferId,
      bytes,
      end: () => {
        ended.resolve(undefined);
      },
      isOver: false,
      isSafe: false,
      isReported: false,
    };
    this.pushes.push(push);
    async function* chunks(): AsyncGenerator<Buffer> {
      yield encodePush({ transferId, machineId: 'm', content: encodeContent(getContent(bytes)) });
      await ended.promise;
      yield encodePush({ data: bytes });
    }
    machineRoutes(this.#host)
      .pushContent(chunks(), aCallContext({ userId: 'machine:m' }))
      .then(
        () => {
          push.isSafe = true;
        },
        () => undefined,
      )
      .finally(() => {
        push.isOver = true;
      });
  }

  /** The agent reports all outputs that it has brought. */
  #report(): void {
    const safe = this.pushes.filter(({ isSafe, isReported }) => isSafe && !isReported);
    this.#sequence += 1;
    const ended = safe.map((push, index) => {
      push.isReported = true;
      const output: OutputContent = {
        outputIndex: 0,
        path: '',
        mode: 0o644,
        inline: undefined,
        transferId: push.transferId,
        content: getContent(push.bytes),
      };
      return { ...anEnd(index + 1, 'succeeded', { startedAt: 1, endedAt: 2 }), outputs: [output] };
    });
    this.#agent.write(
      Buffer.from(
        AttachRequest.encode({
          message: { $case: 'report', value: encodeReport({ sequence: this.#sequence, started: [], ended }) },
        }).finish(),
      ),
    );
  }

  #leave(): void {
    this.#connection?.near.close();
    this.#connection?.drain();
    this.#connection = undefined;
    this.#wanted = [];
    const attachmentId = 1;
    queueMicrotask(() => {
      this.#relay.perform({ kind: 'KeepReports', machineId, attachmentId });
    });
  }

  #come(): void {
    if (this.#connection !== undefined) return;
    const connection = new Connection();
    this.#connection = connection;
    connection.near.listen({
      onMessage: (bytes) => {
        this.#receive(connection, bytes);
      },
      onClosed: () => undefined,
    });
    this.#relay.connectBroker(connection.far, { userId: 'ana' });
    connection.near.write(
      Buffer.from(
        ConnectRequest.encode({
          message: { $case: 'hello', value: { ...hello, speakerId: 'b', instance: '' } },
        }).finish(),
      ),
    );
    queueMicrotask(() => {
      if (this.#connection === connection) this.#join();
    });
  }

  #join(): void {
    this.#relay.perform({
      kind: 'ReportMachineJoined',
      brokerId: 'b',
      facts,
      heldReplicaIds: [],
      keptSequences: [...this.#keptSequences],
    });
  }

  #acknowledge(): void {
    const { lastSequence: sequence = 0, near } = this.#connection ?? {};
    near?.write(
      Buffer.from(
        ConnectRequest.encode({
          message: {
            $case: 'toMachine',
            value: { machineId, message: { $case: 'acknowledged', value: { sequence } } },
          },
        }).finish(),
      ),
    );
  }

  #receive(connection: Connection, bytes: Buffer): void {
    const { message } = ConnectResponse.decode(bytes);
    const inner = message?.$case === 'fromMachine' ? message.value.message : undefined;
    if (inner?.$case === 'blobUpload') {
      const { transferId } = inner.value;
      if (connection.announced.has(transferId)) this.faults.push(`${transferId} is announced twice on one stream`);
      connection.announced.add(transferId);
      this.#wanted.push(transferId);
    }
    if (inner?.$case === 'report') this.#onReport(connection, inner.value);
  }

  #onReport(connection: Connection, { sequence, ended }: Report): void {
    connection.lastSequence = Math.max(connection.lastSequence, sequence);
    for (const { transferId } of ended.flatMap(({ outputs }) => outputs)) {
      if (!connection.announced.has(transferId) && !this.fetched.has(transferId))
        this.faults.push(`${transferId} is reported before it is announced`);
    }
  }

  #fetch(pick: number): void {
    const transferId = choose(this.#wanted, pick);
    if (transferId === undefined) return;
    this.#wanted = this.#wanted.filter((one) => one !== transferId);
    const pieces: Buffer[] = [];
    const writer: StreamWriter<Buffer> = {
      write: (message) => {
        pieces.push(Buffer.from(ReceiveContentResponse.decode(message).data));
        return true;
      },
      end: () => undefined,
      onDrain: undefined,
      drained: () => Promise.resolve(),
    };
    this.#fetchingCount += 1;
    const asked = Buffer.from(ReceiveContentRequest.encode({ transferId, offset: 0, refusal: '' }).finish());
    const { bytes } = this.pushes.find((push) => push.transferId === transferId)!;
    providerRoutes(this.#host)
      .receiveContent(asked, writer, aCallContext({ userId: 'ana' }))
      .then(
        () => {
          if (Buffer.concat(pieces).equals(bytes)) this.fetched.add(transferId);
          else this.faults.push(`${transferId} came with other bytes`);
        },
        () => undefined,
      )
      .finally(() => {
        this.#fetchingCount -= 1;
      });
  }
}

function choose<T>(list: readonly T[], pick: number): T | undefined {
  return list.length === 0 ? undefined : list[pick % list.length];
}

function getContent(bytes: Buffer): Content {
  return { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
}

function encodePush(parts: Partial<PushContentRequest>): Buffer {
  return Buffer.from(
    PushContentRequest.encode({
      transferId: '',
      machineId: '',
      content: undefined,
      data: Buffer.alloc(0),
      offset: 0,
      ...parts,
    }).finish(),
  );
}

test('each output that a provider took comes home, and is announced once on a stream and before its report, whenever pushes end and the broker comes and goes', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyAction, { minLength: 5, maxLength: 50 }), async (actions) => {
      const world = new World(t);
      for (const action of actions) await world.perform(action);
      await world.settle();
      if (world.faults.length > 0) throw new Error(world.faults.join('; '));
    }),
    runs(20_261_127, 60),
  );
  t.pass();
});

test('an output whose push ends while kept reports are on their way comes home once', async (t) => {
  for (const drainCount of [0, 1, 2, 3, 4]) {
    const world = new World(t);
    const drains = Array.from({ length: drainCount }, () => 'drain' as const);
    for (const kind of [
      'come',
      'leave',
      'push',
      'report',
      'report',
      'push',
      'come',
      ...drains,
      'end',
      'drain',
      'end',
    ] as const)
      await world.perform({ kind, pick: 0 });
    await world.settle();
    t.deepEqual(world.faults, [], `after ${drainCount} turns of the delivery`);
  }
});
