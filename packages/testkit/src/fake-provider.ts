import { createHash } from 'node:crypto';
import {
  decodeBlobRequest,
  decodeOutputPart,
  decodeReport,
  encodeBlobOffer,
  encodeStartGang,
  encodeStartReplicas,
  type LiveOutputPart,
} from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { sayCause } from '@mutirao/api/reasons';
import {
  GridMachineServiceService,
  type AttachRequest,
  type AttachResponse,
  type MachineHello,
  type PushContentRequest,
} from '@mutirao/api/machine';
import type {
  Content,
  GangMemberReady,
  GangMember,
  MachineReport,
  ReplicaEnd,
  ReplicaStart,
  StartReplicas,
  TaskTemplate,
} from '@mutirao/core/messages';
import { quietLogger } from '@mutirao/runtime/log';
import { bind, serve, type MessageStream, type RunningServer, type StreamWriter } from '@mutirao/runtime/rpc';
import { discardSocket, freeSocket } from './free-socket.ts';
import { until } from './until.ts';

const inlineMax = 64 * 1024;
const chunkBytes = 256 * 1024;

/** A template for tests: a shell line for user ana, without limits. */
export function aTemplate(command: string, parts: Partial<TaskTemplate> = {}): TaskTemplate {
  return {
    jobId: 1,
    userId: 'ana',
    command,
    noOp: false,
    environment: {},
    limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
    processors: 1,
    ...parts,
  };
}

/**
 * A provider and a broker in one, for tests of an agent process: starts replicas, sends and receives contents, and
 * receives reports.
 */
export class FakeProvider {
  static readonly token = 'secret-of-the-fake-provider';
  /** Hellos, oldest first. */
  readonly hellos: MachineHello[] = [];
  /** Every report as it came, repeated ones too. */
  readonly reports: MachineReport[] = [];
  /** Answers to requests for output. */
  readonly parts: LiveOutputPart[] = [];
  /** Contents that were pushed, by transfer. */
  readonly pushed = new Map<string, Buffer>();
  /** Contents that were asked for, in order. */
  readonly wanted: string[] = [];
  /** What agents made themselves, one for each call. */
  readonly secrets: string[] = [];
  /** Reports are acknowledged as they come. */
  acknowledges = true;
  private readonly contents = new Map<string, Buffer>();
  private stream: MessageStream<AttachRequest, AttachResponse> | undefined;
  private server: RunningServer | undefined;
  private nextReplicaId = 1;

  get address(): string {
    return this.server?.address ?? '';
  }

  get isAttached(): boolean {
    return this.stream !== undefined;
  }

  /** Listens; after a stop at the same address. */
  async start(): Promise<void> {
    const binding = bind(GridMachineServiceService, {
      attach: (stream) => {
        this.attach(stream);
      },
      pullContent: ({ transferId }, writer) => this.send(transferId, writer),
      pushContent: (messages) => this.receive(messages),
    });
    this.server = await serve({
      address: this.server?.address ?? freeSocket(),
      tokens: (shown) => this.recognise(shown),
      log: quietLogger,
      services: [binding],
    });
  }

  /** An agent shows a secret of its own behind the token. */
  private recognise(shown: string): string | undefined {
    const [token, secret] = shown.split('~');
    if (secret !== undefined) this.secrets.push(secret);
    return token === FakeProvider.token ? 'agent' : undefined;
  }

  async stop(): Promise<void> {
    await this.server?.drain(100);
    if (this.server !== undefined) discardSocket(this.server.address);
  }

  /** Closes the agent's stream with an error. */
  refuse(error: MutiraoError): void {
    this.stream?.close(error);
  }

  /** Places replicas of one template; the numbers that they got. */
  place(template: TaskTemplate, replicas: readonly Partial<ReplicaStart>[] = [{}]): number[] {
    const starts = replicas.map(
      (replica, index): ReplicaStart => ({
        replicaId: this.nextReplicaId++,
        taskIndex: index,
        value: '',
        inputs: [],
        outputs: [],
        ...replica,
      }),
    );
    this.dispatchBatch({ template, replicas: starts });
    return starts.map((start) => start.replicaId);
  }

  dispatchBatch(batch: StartReplicas): void {
    this.write({ $case: 'start', value: encodeStartReplicas(batch) });
  }

  cancel(replicaIds: readonly number[], onlyWaiting = false): void {
    this.write({ $case: 'cancel', value: { replicaIds: [...replicaIds], onlyWaiting } });
  }

  /** Says whose broker the tasks that follow come from. */
  serveUser(userId: string, isOwner: boolean): void {
    this.write({ $case: 'served', value: { userId, isOwner } });
  }

  drain(): void {
    this.write({ $case: 'drain', value: { reason: 'test' } });
  }

  startGang(replicaId: number, members: readonly GangMember[]): void {
    this.write({ $case: 'startGang', value: encodeStartGang({ replicaId, members }) });
  }

  /** Waits for the report that a member of a gang is ready. */
  async getHeld(replicaId: number): Promise<GangMemberReady> {
    const find = (): GangMemberReady | undefined =>
      this.reports.flatMap((report) => report.gangMemberReady ?? []).find((held) => held.replicaId === replicaId);
    await until(() => find() !== undefined || this.getEnds(replicaId).length > 0, `replica ${replicaId} is held`);
    const held = find();
    if (held === undefined)
      throw new Error(`replica ${replicaId} ended instead: ${sayCause(this.getEnds(replicaId)[0]?.detail ?? '')}`);
    return held;
  }

  /** Has a content that agents can ask for. */
  addContent(bytes: Buffer): Content {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    this.contents.set(sha256, bytes);
    return { sha256, size: bytes.length };
  }

  /** Does not have a content any more. */
  forgetContent(content: Content): void {
    this.contents.delete(content.sha256);
  }

  /** Waits for the report of the end of a replica. */
  async findEnd(replicaId: number): Promise<ReplicaEnd> {
    await until(() => this.getEnds(replicaId).length > 0, `the end of replica ${replicaId}`);
    return this.getEnds(replicaId)[0] as ReplicaEnd;
  }

  /** Places one replica and waits for its end. */
  async run(template: TaskTemplate, replica: Partial<ReplicaStart> = {}): Promise<ReplicaEnd> {
    const [replicaId = 0] = this.place(template, [replica]);
    return this.findEnd(replicaId);
  }

  /** All reported ends of a replica, without those in repeated reports. */
  getEnds(replicaId: number): ReplicaEnd[] {
    const bySequence = new Map(this.reports.map((report) => [report.sequence, report]));
    return [...bySequence.values()].flatMap((report) => report.ended.filter((end) => end.replicaId === replicaId));
  }

  private write(message: NonNullable<AttachResponse['message']>): void {
    this.stream?.write({ message });
  }

  private attach(stream: MessageStream<AttachRequest, AttachResponse>): void {
    stream.listen({
      onMessage: ({ message }) => {
        this.handle(stream, message);
      },
      onEnd: () => {
        stream.end();
      },
      onClosed: () => {
        if (this.stream === stream) this.stream = undefined;
      },
    });
  }

  private handle(stream: MessageStream<AttachRequest, AttachResponse>, message: AttachRequest['message']): void {
    switch (message?.$case) {
      case 'hello':
        this.hellos.push(message.value);
        this.stream = stream;
        return this.write({
          $case: 'hello',
          value: { protocolVersion: 1, programVersion: 'test', capabilities: [], speakerId: 'fake' },
        });
      case 'report': {
        const report = decodeReport(message.value);
        this.reports.push(report);
        if (this.acknowledges) this.write({ $case: 'acknowledged', value: { sequence: report.sequence } });
        return;
      }
      case 'blobRequest': {
        for (const content of decodeBlobRequest(message.value)) this.offer(content);
        return;
      }
      case 'outputPart':
        this.parts.push(decodeOutputPart(message.value));
        return;
      case undefined:
        throw new MutiraoError('MUT_PROTOCOL', 'empty message');
    }
  }

  private offer(content: Content): void {
    this.wanted.push(content.sha256);
    const bytes = this.contents.get(content.sha256);
    const source =
      bytes === undefined
        ? ({ kind: 'refused', reason: 'MUT_CONTENT_NOT_FOUND' } as const)
        : bytes.length <= inlineMax
          ? ({ kind: 'inline', bytes } as const)
          : ({ kind: 'transfer', transferId: content.sha256 } as const);
    this.write({ $case: 'content', value: encodeBlobOffer({ content, source }) });
  }

  private async send(transferId: string, writer: StreamWriter<{ data: Buffer }>): Promise<void> {
    const bytes = this.contents.get(transferId);
    if (bytes === undefined) throw new MutiraoError('MUT_TRANSFER_FAILED', `no transfer ${transferId}`);
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      if (!writer.write({ data: bytes.subarray(at, at + chunkBytes) })) await writer.drained();
    }
  }

  private async receive(messages: AsyncIterable<PushContentRequest>): Promise<Record<string, never>> {
    const chunks: Buffer[] = [];
    let transferId = '';
    for await (const message of messages) {
      if (message.transferId !== '') transferId = message.transferId;
      chunks.push(Buffer.from(message.data));
    }
    this.pushed.set(transferId, Buffer.concat(chunks));
    return {};
  }
}
