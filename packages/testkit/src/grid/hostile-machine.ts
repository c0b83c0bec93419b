import { GridMachineServiceClient, type AttachRequest, type AttachResponse } from '@mutirao/api/machine';
import { dial, messagesOf, openSending, openStream, type MessageStream } from '@mutirao/runtime/rpc';

/** What a machine wants, or pushes. */
export interface HostileContent {
  readonly sha256: Buffer;
  readonly sizeBytes: number;
}

/** After which another try would be refused as well. */
const finalRefusals = new Set(['MUT_UNAUTHENTICATED', 'MUT_INVITATION_REFUSED', 'MUT_CREDENTIAL_NAME', 'MUT_MACHINE_REMOVED', 'MUT_MACHINE_ATTACHED']);

/** A machine of a lab whose owner has replaced the agent: it says and asks whatever a test has it say and ask. */
export class HostileMachine {
  readonly client: GridMachineServiceClient;
  /** Everything that the provider and its broker said, oldest first. */
  readonly messages: NonNullable<AttachResponse['message']>[] = [];
  /** Codes with which its streams were closed, oldest first. */
  readonly refusals: string[] = [];
  readonly name: string;
  #stream: MessageStream<AttachResponse, AttachRequest> | undefined;

  /** @param secret which the agent shows beside what it was given. */
  constructor(name: string, address: string, { given, secret }: { readonly given: string; readonly secret: string }) {
    this.name = name;
    this.client = dial(GridMachineServiceClient, address, { token: `${given}~${secret}` });
  }

  /** Presents itself, and again when it is sent away, as when its provider begins to stand in for its broker. */
  attach(attributes: Readonly<Record<string, string>> = {}): void {
    const stream: MessageStream<AttachResponse, AttachRequest> = openStream(this.client.attach());
    this.#stream = stream;
    stream.listen({
      onMessage: ({ message }) => {
        if (message !== undefined) this.messages.push(message);
      },
      onClosed: (error) => {
        if (error !== undefined) this.refusals.push(error.code);
        if (this.#stream === stream && !finalRefusals.has(error?.code ?? '')) this.attach(attributes);
      },
    });
    const hello = { protocolVersion: 1, programVersion: '0', capabilities: [], speakerId: this.name };
    const facts = { machineId: this.name, incarnation: this.name, processors: 1, attributes: { ...attributes }, untilUnixMs: undefined, requestId: '', sharedTokens: [], homeMarks: [] };
    this.say({ $case: 'hello', value: { hello, facts, heldReplicaIds: [] } });
  }

  say(message: NonNullable<AttachRequest['message']>): void {
    this.#stream?.write({ message });
  }

  want(content: HostileContent): void {
    this.say({ $case: 'contentWanted', value: { contents: [content], offsets: [], overWire: false, sharedTokens: [], challenge: '', homeProofs: [] } });
  }

  /** The messages of one kind. */
  heard<K extends NonNullable<AttachResponse['message']>['$case']>(kind: K): Extract<NonNullable<AttachResponse['message']>, { $case: K }>['value'][] {
    return this.messages.filter((message) => message.$case === kind).map((message) => message.value as never);
  }

  /** The transfers that it was offered. */
  transferIds(): string[] {
    return this.heard('content').flatMap(({ source }) => (source?.$case === 'transferId' ? [source.value] : []));
  }

  /** All bytes of a transfer. Rejects with the provider's error. */
  async pull(transferId: string): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const { data } of messagesOf(this.client.pullContent({ transferId }))) parts.push(data);
    return Buffer.concat(parts);
  }

  /** Pushes bytes under a name, as a machine of some name. Rejects with the provider's error. */
  async push(transferId: string, content: HostileContent, data: Buffer, machineId = this.name): Promise<void> {
    const sending = openSending<{ transferId: string; machineId: string; content: HostileContent | undefined; data: Buffer; offset: number }, unknown>((done) => this.client.pushContent(done));
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
}
