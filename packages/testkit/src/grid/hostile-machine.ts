import { randomBytes } from 'node:crypto';
import {
  GridMachineServiceClient,
  Outcome,
  type AttachRequest,
  type AttachResponse,
  type MachineFacts,
  type ReplicaEnded,
  type ReplicaStart,
  type Report,
} from '@mutirao/api/machine';
import { userTrust, type TrustSource } from '@mutirao/runtime/identity';
import { dial, listMessages, openSending, openStream, type MessageStream } from '@mutirao/runtime/rpc';
import type { Grid } from './grid.ts';
import { inviteMachine } from './invite-machine.ts';

/** What a hostile machine says of itself and of the replicas that it is given. */
export interface HostileWords {
  /** As its facts; what is left out is as an honest machine has it. */
  readonly facts?: Partial<MachineFacts>;
  /**
   * What it reports of a replica that it is given: an honest success without outputs, changed; undefined where it says
   * nothing. Left out, that success.
   */
  answer?(honest: ReplicaEnded, start: ReplicaStart): ReplicaEnded | undefined;
  /** Changes a report before it is sent. */
  report?(honest: Report): Report;
}

/** What a machine wants, or pushes. */
export interface HostileContent {
  readonly sha256: Buffer;
  readonly sizeBytes: number;
}

/** After which another try would be refused as well. */
const finalRefusals = new Set([
  'MUT_UNAUTHENTICATED',
  'MUT_INVITATION_REFUSED',
  'MUT_CREDENTIAL_NAME',
  'MUT_MACHINE_REMOVED',
  'MUT_MACHINE_ATTACHED',
]);

/**
 * A machine of a lab whose owner has replaced the agent: it runs nothing, and says and asks whatever a test has it say
 * and ask.
 */
export class HostileMachine {
  readonly client: GridMachineServiceClient;
  /** Everything that the provider and its broker said, oldest first. */
  readonly messages: NonNullable<AttachResponse['message']>[] = [];
  /** Codes with which its streams were closed, oldest first. */
  readonly refusals: string[] = [];
  readonly name: string;
  /** Replicas that it was given. */
  readonly started: ReplicaStart[] = [];
  readonly #words: HostileWords | undefined;
  #sequence = 0;
  #stream: MessageStream<AttachResponse, AttachRequest> | undefined;

  /**
   * @param secret which the agent shows with its credential. @param words what it answers when it is given
   * replicas; left out for a machine that answers nothing.
   */
  constructor(
    name: string,
    address: string,
    { given, secret, trust }: { readonly given: string; readonly secret: string; readonly trust?: TrustSource },
    words?: HostileWords,
  ) {
    this.name = name;
    this.#words = words;
    this.client = dial(GridMachineServiceClient, address, {
      token: `${given}~${secret}`,
      ...(trust === undefined ? {} : { trust }),
    });
  }

  /**
   * Attaches one to the lab of a grid, which is there if the grid began with a machine. Once it is sent away it stays
   * away.
   */
  static async join(grid: Grid, name: string, words: HostileWords = {}): Promise<HostileMachine> {
    const given = await inviteMachine(grid.home, 'lab', name);
    const machine = new HostileMachine(
      name,
      grid.providers.at(-1)?.agentsAddress ?? '',
      { given, secret: randomBytes(32).toString('base64url'), trust: userTrust(grid.home, {}) },
      words,
    );
    machine.attach();
    return machine;
  }

  /** Presents itself, and again when it is sent away, as when its provider begins to stand in for its broker. */
  attach(attributes: Readonly<Record<string, string>> = {}): void {
    const stream: MessageStream<AttachResponse, AttachRequest> = openStream(this.client.attach());
    this.#stream = stream;
    stream.listen({
      onMessage: ({ message }) => {
        if (message === undefined) return;
        this.messages.push(message);
        if (message.$case === 'start') this.#answer(message.value.replicas);
      },
      onClosed: (error) => {
        if (error !== undefined) this.refusals.push(error.code);
        if (this.#words === undefined && this.#stream === stream && !finalRefusals.has(error?.code ?? ''))
          this.attach(attributes);
      },
    });
    const hello = { protocolVersion: 1, programVersion: '0', capabilities: [], speakerId: this.name };
    const facts = {
      machineId: this.name,
      incarnation: this.#words === undefined ? this.name : randomBytes(4).toString('hex'),
      processors: 1,
      attributes: { ...attributes },
      untilUnixMs: undefined,
      requestId: '',
      sharedTokens: [],
      homeMarks: [],
      identity: `host-${this.name}`,
      ...this.#words?.facts,
    };
    this.say({ $case: 'hello', value: { hello, facts, heldReplicaIds: [] } });
  }

  say(message: NonNullable<AttachRequest['message']>): void {
    this.#stream?.write({ message });
  }

  /** Sends a report of nothing but what is given. */
  report(parts: Partial<Report>): void {
    this.#sequence += 1;
    this.say({
      $case: 'report',
      value: { sequence: this.#sequence, started: [], ended: [], gangMemberReady: [], ...parts },
    });
  }

  want(content: HostileContent): void {
    this.say({
      $case: 'blobRequest',
      value: { contents: [content], offsets: [], overWire: false, sharedTokens: [], challenge: '', homeProofs: [] },
    });
  }

  /** The messages of one kind. */
  received<K extends NonNullable<AttachResponse['message']>['$case']>(
    kind: K,
  ): Extract<NonNullable<AttachResponse['message']>, { $case: K }>['value'][] {
    return this.messages.filter((message) => message.$case === kind).map((message) => message.value as never);
  }

  /** The transfers that it was offered. */
  transferIds(): string[] {
    return this.received('content').flatMap(({ source }) => (source?.$case === 'transferId' ? [source.value] : []));
  }

  /** All bytes of a transfer. Rejects with the provider's error. */
  async pull(transferId: string): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const { data } of listMessages(this.client.pullContent({ transferId }))) parts.push(data);
    return Buffer.concat(parts);
  }

  /** Pushes bytes under a name, as a machine of some name. Rejects with the provider's error. */
  async push(transferId: string, content: HostileContent, data: Buffer, machineId = this.name): Promise<void> {
    const sending = openSending<
      { transferId: string; machineId: string; content: HostileContent | undefined; data: Buffer; offset: number },
      unknown
    >((done) => this.client.pushContent(done));
    sending.writer.write({ transferId, machineId, content, data, offset: 0 });
    sending.writer.end();
    await sending.response;
  }

  close(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.close();
    this.client.close();
  }

  #answer(starts: readonly ReplicaStart[]): void {
    this.started.push(...starts);
    const words = this.#words;
    if (words === undefined) return;
    const ended = starts.flatMap((start) => {
      const honest = honestEnd(start);
      const reported = words.answer === undefined ? honest : words.answer(honest, start);
      return reported === undefined ? [] : [reported];
    });
    if (ended.length === 0) return;
    const honest = { sequence: this.#sequence + 1, started: [], ended, gangMemberReady: [] };
    this.report(words.report?.(honest) ?? honest);
  }
}

function honestEnd({ replicaId }: ReplicaStart): ReplicaEnded {
  const now = Date.now();
  return {
    replicaId,
    outcome: Outcome.SUCCEEDED,
    exitStatus: 0,
    startedUnixMs: now,
    endedUnixMs: now + 1,
    reason: '',
    detail: undefined,
    standardOutput: Buffer.alloc(0),
    standardError: Buffer.alloc(0),
    outputTruncated: false,
    outputs: [],
  };
}
