import type { BrokerId } from '@mutirao/core/machines/provider';
import type { Duration, Instant, MachineId, ReplicaId, RequestId, UserId } from '@mutirao/core/shared';
import {
  asBuffer,
  decodeBlobRequest,
  decodeOutputPart,
  decodeOutputRequest,
  encodeBlobRequest,
  encodeOutputPart,
  unreadablePart,
  type ReaderProofs,
  type WantedContent,
} from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { AttachRequest, BlobRequest, OutputPart, OutputRequest } from '@mutirao/api/machine';
import { noProofs } from '@mutirao/runtime/files';
import type { MessageStream } from '@mutirao/runtime/rpc';
import type { ReportBuffer } from '../standby/report-buffer.ts';
import { toAgent } from './frames.ts';
import type { TaskMeasure } from './measure.ts';
import {
  attachFields,
  decodeWith,
  findAlternative,
  frameFromMachine,
  machineIdField,
  scanReport,
  getSequence,
} from './wire.ts';

/** A stream whose messages are the bytes that travel. */
export type ByteStream = MessageStream<Buffer, Buffer>;

/** The open stream of a broker. While it is behind, its agents are not read. */
export class BrokerLink {
  readonly brokerId: BrokerId;
  readonly connectionId: number;
  readonly stream: ByteStream;
  /** Whether it takes the status of reservations; older releases reject that message. */
  readonly takesStatuses: boolean;
  /** Instance of its journal; empty for a release that does not report it. */
  instance = '';
  readonly #agents = new Set<AgentLink>();
  #isBehind = false;

  constructor(brokerId: BrokerId, connectionId: number, stream: ByteStream, takesStatuses = false) {
    this.brokerId = brokerId;
    this.takesStatuses = takesStatuses;
    this.connectionId = connectionId;
    this.stream = stream;
    stream.onDrain = () => {
      this.#isBehind = false;
      for (const agent of this.#agents) agent.stream.resume();
    };
  }

  /** Sends a message, and holds the agents back when the broker does not keep up. */
  write(bytes: Buffer): void {
    if (this.stream.write(bytes) || this.#isBehind) return;
    this.#isBehind = true;
    for (const agent of this.#agents) agent.stream.pause();
  }

  /** From now on the agent's messages come here. */
  adopt(agent: AgentLink): void {
    this.#agents.add(agent);
    if (!this.#isBehind) agent.stream.resume();
  }

  /** Stops sending the agent's messages here; they wait. */
  release(agent: AgentLink): void {
    if (this.#agents.delete(agent) && !agent.stream.isClosed) agent.stream.pause();
  }
}

/** Who an agent is. */
export interface AgentIdentity {
  readonly attachmentId: number;
  readonly machineId: MachineId;
  /** Which of the processes that have called themselves so it is. */
  readonly incarnation: string;
  /** What it calls itself. */
  readonly agentName: string;
  readonly requestId: RequestId;
  /** Whether it answers requests for output; older releases reject that message. */
  readonly takesOutputRequests: boolean;
}

/** Looks at what an agent wants, before its broker does. Undefined passes its message on; else it has been seen to. */
export type WatchWants = (
  agent: AgentLink,
  broker: BrokerLink,
  bytes: Buffer,
  start: number,
) => readonly WantedContent[] | undefined;

/** Between two lines of the log on second processes of one machine. */
const secondPause: Duration = 60_000;
/** Offers that are remembered of an agent until it takes them; the oldest goes. */
const offeredMax = 65_536;

/** The open stream of an agent. What it says before it belongs to a broker waits. */
export class AgentLink {
  readonly identity: AgentIdentity;
  readonly stream: ByteStream;
  readonly #measure: TaskMeasure;
  readonly #idField: Buffer;
  readonly #watchWants: WatchWants | undefined;
  /** Transfers that it was offered and has not taken, and the broker that offered each. */
  readonly #offered = new Map<string, BrokerId>();
  #proofs: ReaderProofs = noProofs;
  /** The user whose broker the agent works for, as last reported to it; undefined before the first report. */
  #servedUser: UserId | undefined;
  #secondAt: Instant | undefined;
  #broker: BrokerLink | undefined;
  #waiting: Buffer[] = [];
  /** Replicas of a broker that is gone and whose ends are still to come; undefined unless it is being cleared. */
  #clearing: Set<ReplicaId> | undefined;
  /** Takes its messages while its broker is away; undefined unless it does. */
  #buffer: ReportBuffer | undefined;
  /** Its messages wait until those that were kept have gone to the broker. */
  #isHeld = false;

  constructor(identity: AgentIdentity, stream: ByteStream, measure: TaskMeasure, watchWants?: WatchWants) {
    this.identity = identity;
    this.stream = stream;
    this.#measure = measure;
    this.#idField = machineIdField(identity.machineId);
    this.#watchWants = watchWants;
  }

  get machineId(): MachineId {
    return this.identity.machineId;
  }

  /**
   * Notes that another process shows the same credential.
   *
   * @returns whether to log it: at most once a minute, since a refused process may try again and again.
   */
  noteSecond(now: Instant): boolean {
    if (this.#secondAt !== undefined && now - this.#secondAt < secondPause) return false;
    this.#secondAt = now;
    return true;
  }

  /** What it proved last about the home folders that it reads. */
  get proofs(): ReaderProofs {
    return this.#proofs;
  }

  /** It proves that it reads home folders, with each message in which it wants contents. */
  noteProofs(proofs: ReaderProofs): void {
    const { challenge, homeProofs } = this.#proofs;
    // The same object as long as it says the same: what is known of it need not be found out again.
    if (challenge !== proofs.challenge || homeProofs.join() !== proofs.homeProofs.join()) this.#proofs = proofs;
  }

  get isClosed(): boolean {
    return this.stream.isClosed;
  }

  /** Transfers that it was offered and has not taken. */
  get offeredIds(): Iterable<string> {
    return this.#offered.keys();
  }

  /** Its broker offers it a transfer. */
  noteOffered(transferId: string, brokerId: BrokerId): void {
    this.#offered.set(transferId, brokerId);
    if (this.#offered.size <= offeredMax) return;
    const [oldest = ''] = this.#offered.keys();
    this.#offered.delete(oldest);
  }

  /** It takes a transfer: the broker that offered it. Undefined where it was not offered, or was taken. */
  takeOffered(transferId: string): BrokerId | undefined {
    const brokerId = this.#offered.get(transferId);
    this.#offered.delete(transferId);
    return brokerId;
  }

  /** Reports to the agent whose broker the tasks that follow come from, unless it knows. */
  reportServed(userId: UserId, ownerId: UserId): void {
    if (this.#servedUser === userId) return;
    this.#servedUser = userId;
    this.stream.write(toAgent({ $case: 'served', value: { userId, isOwner: userId === ownerId } }));
  }

  /** Sends it a message. */
  write(message: Buffer): void {
    this.stream.write(message);
  }

  /** Whether its messages are kept for a broker that is away. */
  get isKeeping(): boolean {
    return this.#buffer !== undefined;
  }

  /** Asks its broker for contents in its name; nothing while it has none, since it will ask again. */
  ask(contents: readonly WantedContent[]): void {
    if (contents.length === 0) return;
    this.#buffer?.want(contents);
    const bytes = asBuffer(
      AttachRequest.encode({
        message: { $case: 'blobRequest', value: encodeBlobRequest(contents, this.#proofs) },
      }).finish(),
    );
    this.#broker?.write(frameFromMachine(this.#idField, bytes));
  }

  /** Sends a request for output, or answers in the place of an older agent. @throws {MutiraoError} MUT_BAD_REQUEST */
  requestOutput(message: Buffer, start: number): void {
    if (this.identity.takesOutputRequests) {
      this.stream.write(message);
      return;
    }
    const part = unreadablePart(decodeOutputRequest(decodeWith(OutputRequest, message, start)));
    const bytes = AttachRequest.encode({ message: { $case: 'outputPart', value: encodeOutputPart(part) } }).finish();
    this.#broker?.write(frameFromMachine(this.#idField, bytes));
  }

  get broker(): BrokerLink | undefined {
    return this.#broker;
  }

  /**
   * Passes its messages on to `broker` from now on, first those that waited; undefined lets them wait.
   *
   * With `isHeld` they still wait until `letGo`; what the broker says goes to the agent at once.
   */
  route(broker: BrokerLink | undefined, isHeld = false): void {
    this.#broker?.release(this);
    this.#broker = broker;
    this.#isHeld = isHeld;
    if (broker === undefined) return;
    this.#waiting.unshift(...(this.#buffer?.leave() ?? []));
    this.#buffer = undefined;
    if (isHeld) this.stream.pause();
    else this.#flowTo(broker);
  }

  /** What goes before its messages is on its way to the broker. */
  letGo(broker: BrokerLink): void {
    if (this.#broker !== broker || !this.#isHeld) return;
    this.#isHeld = false;
    this.#flowTo(broker);
  }

  #flowTo(broker: BrokerLink): void {
    broker.adopt(this);
    this.#receiveWaiting();
  }

  /** Has its messages kept from now on, first those that waited. */
  keep(buffer: ReportBuffer): void {
    this.#buffer = buffer;
    this.stream.resume();
    this.#receiveWaiting();
  }

  /** Reports up to a sequence are kept well: the agent may forget them. */
  acknowledgeSpooled(sequence: number): void {
    this.#buffer?.forget(sequence);
    this.stream.write(toAgent({ $case: 'acknowledged', value: { sequence } }));
  }

  #receiveWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const bytes of waiting) this.receive(bytes);
  }

  /** Takes one message of the agent. @throws {MutiraoError} MUT_PROTOCOL */
  receive(bytes: Buffer): void {
    if (this.#clearing !== undefined) this.#clear(bytes, this.#clearing);
    else if (this.#buffer !== undefined) this.#buffer.receive(bytes);
    else if (this.#broker === undefined || this.#isHeld) {
      // Who asked for output is gone, and asks again.
      if (findAlternative(bytes).field !== attachFields.outputPart) this.#waiting.push(bytes);
    } else this.#forward(bytes, this.#broker);
  }

  #forward(bytes: Buffer, broker: BrokerLink): void {
    const { field, start } = findAlternative(bytes);
    if (field === attachFields.report)
      scanReport(bytes, start, this.#noteEnd, this.identity.requestId === '' ? undefined : this.#noteStart);
    else if (field === attachFields.blobRequest) {
      // Decoded even if nothing here needs it: a malformed message would end its broker's connection.
      decodeBlobRequest(decodeWith(BlobRequest, bytes, start));
      const rest = this.#watchWants?.(this, broker, bytes, start);
      if (rest !== undefined) {
        this.ask(rest);
        return;
      }
    } else if (field === attachFields.outputPart) decodeOutputPart(decodeWith(OutputPart, bytes, start));
    else
      throw new MutiraoError(
        'MUT_PROTOCOL',
        `alternative ${field} of an attached agent; expected a report, contents wanted or a part of an output`,
      );
    broker.write(frameFromMachine(this.#idField, bytes));
  }

  /** An arrow function, so that no closure is made per report. */
  readonly #noteEnd = (replicaId: number, outcome: number, runTime: number): void => {
    const { requestId, machineId } = this.identity;
    this.#measure.note(requestId, outcome, runTime);
    if (requestId !== '') this.#measure.noteEnd(machineId, replicaId);
  };

  readonly #noteStart = (replicaId: number): void => {
    this.#measure.noteStart(this.identity.machineId, replicaId);
  };

  /** Cancels what it holds for a broker that is gone, and takes its reports itself until all has ended. */
  clear(heldReplicaIds: readonly ReplicaId[]): void {
    this.#clearing = new Set(heldReplicaIds);
    // Messages that waited for space no longer belong to a broker, but they report ends.
    this.#waiting.unshift(...(this.#buffer?.leave() ?? []));
    this.#buffer = undefined;
    this.stream.write(toAgent({ $case: 'cancel', value: { replicaIds: [...heldReplicaIds], onlyWaiting: false } }));
    this.stream.resume();
    this.#receiveWaiting();
  }

  #clear(bytes: Buffer, clearing: Set<ReplicaId>): void {
    const { field, start } = findAlternative(bytes);
    if (field !== attachFields.report) return;
    scanReport(bytes, start, (replicaId) => {
      clearing.delete(replicaId);
    });
    this.stream.write(toAgent({ $case: 'acknowledged', value: { sequence: getSequence(bytes, start) } }));
    if (clearing.size === 0)
      this.stream.close(new MutiraoError('MUT_REATTACH', 'all that was held for the former broker has ended'));
  }
}
