import { decodeMessage } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';

/**
 * The little of protobuf's wire format that the relay needs: it looks into messages without taking them apart, because
 * AttachRequest and FromMachine (and ToMachine and AttachResponse) number their alternatives alike.
 *
 * Every message is walked to its last field before it is passed on, so that nonsense of one peer never reaches another.
 */

/** Which fields of a message are messages, by field number. */
interface Shape {
  readonly fields: Readonly<Partial<Record<number, Shape>>>;
}

const flat: Shape = { fields: {} };
const outputShape: Shape = { fields: { 3: flat } };
const endedShape: Shape = { fields: { 11: outputShape, 12: flat } };

/** Alternatives of AttachRequest, by field number. */
export const attachFields = { hello: 1, report: 2, blobRequest: 3, outputPart: 5 } as const;
/** The alternative of AttachResponse, and of ToMachine, that acknowledges reports. */
export const acknowledgedField = 4;
/** The alternative of AttachResponse, and of ToMachine, that offers a content. */
export const blobOfferField = 5;
/** The alternative of AttachResponse, and of ToMachine, that asks for what a task has written. */
export const outputRequestField = 9;
/**
 * The alternatives of ToMachine, which an agent receives as they are. The others of AttachResponse are the provider's
 * to say.
 */
const toMachineFields: ReadonlySet<number> = new Set([2, 3, acknowledgedField, blobOfferField, 7, outputRequestField]);
/** Alternatives of ConnectRequest, by field number. */
export const connectFields = { hello: 1, demand: 2, toMachine: 3, lease: 4, leaseRevocation: 5 } as const;

const reportStarted = 2;
const startedReplicaId = 1;
const reportEnded = 3;
const reportGangMemberReady = 4;

/**
 * Called for each replica that a report says has ended. Outcome as on the wire; times in Unix milliseconds, 0 when it
 * never started.
 */
export type VisitEnd = (replicaId: number, outcome: number, runTime: number) => void;

function protocolError(message: string): MutiraoError {
  return new MutiraoError('MUT_PROTOCOL', message);
}

/** Reads a message from `start` to the end. @throws {MutiraoError} MUT_PROTOCOL */
export function decodeWith<T>(codec: { decode(bytes: Uint8Array): T }, bytes: Uint8Array, start: number): T {
  return decodeMessage(codec, bytes.subarray(start));
}

/** Walks over the fields of one message. */
class WireWalker {
  readonly bytes: Uint8Array;
  position: number;
  readonly end: number;
  field = 0;
  wireType = 0;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
  }

  /** Reads the next tag; false at the end. */
  next(): boolean {
    if (this.position === this.end) return false;
    const tag = this.varint();
    this.field = Math.floor(tag / 8);
    this.wireType = tag % 8;
    if (this.field === 0 || tag > 0xffff_ffff) throw protocolError('malformed message: a field without a number');
    return true;
  }

  varint(): number {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 10; count += 1) {
      if (this.position >= this.end) break;
      const byte = this.bytes[this.position] ?? 0;
      this.position += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw protocolError('malformed message: a number above 2^53');
        return value;
      }
      factor *= 128;
    }
    throw protocolError('malformed message: a number without an end');
  }

  /** Start of the bytes of a length-delimited field; its end is `position` afterwards. */
  span(): number {
    if (this.wireType !== 2) throw protocolError(`malformed message: field ${this.field} is not a message`);
    const length = this.varint();
    const start = this.position;
    if (length > this.end - start) throw protocolError('malformed message: a field beyond its end');
    this.position = start + length;
    return start;
  }

  skip(): void {
    if (this.wireType === 0) this.varint();
    else if (this.wireType === 2) this.span();
    else if (this.wireType === 1) this.advance(8);
    else if (this.wireType === 5) this.advance(4);
    else throw protocolError(`malformed message: wire type ${this.wireType}`);
  }

  private advance(count: number): void {
    if (count > this.end - this.position) throw protocolError('malformed message: a field beyond its end');
    this.position += count;
  }
}

function walk(bytes: Uint8Array, start: number, end: number, shape: Shape): void {
  const walker = new WireWalker(bytes, start, end);
  while (walker.next()) {
    const inner = shape.fields[walker.field];
    if (inner === undefined || walker.wireType !== 2) walker.skip();
    else walk(bytes, walker.span(), walker.position, inner);
  }
}

/** A message that holds one alternative and nothing else. */
export interface Alternative {
  readonly field: number;
  /** Where its bytes begin; they reach to the end of the message. */
  readonly start: number;
}

/**
 * Finds the one alternative of a message. @throws {MutiraoError} MUT_PROTOCOL when there is none, or more than that.
 */
export function findAlternative(bytes: Uint8Array, from = 0): Alternative {
  const walker = new WireWalker(bytes, from, bytes.length);
  if (!walker.next()) throw protocolError('an empty message; expected one alternative');
  const { field } = walker;
  const start = walker.span();
  if (walker.position !== bytes.length) throw protocolError(`a message with more than alternative ${field}`);
  return { field, start };
}

/**
 * Walks a report to its end, and visits the replicas that ended, and those that still run where somebody wants to know.
 * @throws {MutiraoError} MUT_PROTOCOL
 */
export function scanReport(
  bytes: Uint8Array,
  start: number,
  visit: VisitEnd,
  visitStart?: (replicaId: number) => void,
): void {
  const walker = new WireWalker(bytes, start, bytes.length);
  while (walker.next()) {
    if (walker.wireType !== 2) walker.skip();
    else if (walker.field === reportEnded) scanEnded(bytes, walker.span(), walker.position, visit);
    else if (walker.field === reportStarted && visitStart !== undefined)
      visitStart(scanStarted(bytes, walker.span(), walker.position));
    else if (walker.field === reportStarted || walker.field === reportGangMemberReady)
      walk(bytes, walker.span(), walker.position, flat);
    else walker.span();
  }
}

/** The replica of a ReplicaStarted. */
function scanStarted(bytes: Uint8Array, start: number, end: number): number {
  const walker = new WireWalker(bytes, start, end);
  let replicaId = 0;
  while (walker.next()) {
    if (walker.field === startedReplicaId && walker.wireType === 0) replicaId = walker.varint();
    else walker.skip();
  }
  return replicaId;
}

/** Field numbers of ReplicaEnded. */
const ended = { replicaId: 1, outcome: 2, startedAt: 4, endedAt: 5 } as const;

function scanEnded(bytes: Uint8Array, start: number, end: number, visit: VisitEnd): void {
  const walker = new WireWalker(bytes, start, end);
  let replicaId = 0;
  let outcome = 0;
  let startedAt = 0;
  let endedAt = 0;
  while (walker.next()) {
    if (walker.wireType !== 0) {
      const inner = endedShape.fields[walker.field];
      if (inner === undefined || walker.wireType !== 2) walker.skip();
      else walk(bytes, walker.span(), walker.position, inner);
      continue;
    }
    const value = walker.varint();
    switch (walker.field) {
      case ended.replicaId:
        replicaId = value;
        break;
      case ended.outcome:
        outcome = value;
        break;
      case ended.startedAt:
        startedAt = value;
        break;
      case ended.endedAt:
        endedAt = value;
        break;
      default:
        break;
    }
  }
  visit(replicaId, outcome, startedAt === 0 ? 0 : Math.max(0, endedAt - startedAt));
}

/** The sequence of a report; 0 when it has none. */
export function getSequence(bytes: Uint8Array, start: number): number {
  const walker = new WireWalker(bytes, start, bytes.length);
  while (walker.next()) {
    if (walker.field === 1 && walker.wireType === 0) return walker.varint();
    walker.skip();
  }
  return 0;
}

/** A message to a machine: the machine's name, empty for the provider itself, and the bytes of its AttachResponse. */
export interface ToMachineFrame {
  readonly machineId: string;
  /** Its alternative, as in AttachResponse. */
  readonly field: number;
  /** Where the alternative's bytes begin in `message`. */
  readonly start: number;
  readonly message: Buffer;
}

/** Takes a ToMachine apart. @throws {MutiraoError} MUT_PROTOCOL */
export function readToMachine(bytes: Buffer, start: number): ToMachineFrame {
  const walker = new WireWalker(bytes, start, bytes.length);
  // A name that is empty is left out.
  const isNamed = walker.next() && walker.field === 1;
  const nameStart = isNamed ? walker.span() : start;
  const nameEnd = isNamed ? walker.position : start;
  const { field, start: inner } = findAlternative(bytes, nameEnd);
  if (!toMachineFields.has(field))
    throw protocolError(
      `alternative ${field} in a message to a machine; expected one of ${[...toMachineFields].join(', ')}`,
    );
  return {
    machineId: bytes.toString('utf8', nameStart, nameEnd),
    field,
    start: inner - nameEnd,
    message: bytes.subarray(nameEnd),
  };
}

const machineIdTag = 0x0a;
const fromMachineTag = 0x22;

/** What goes before each message of one machine inside FromMachine: the field with its name. */
export function machineIdField(machineId: string): Buffer {
  const name = Buffer.from(machineId, 'utf8');
  const head = Buffer.alloc(1 + 5);
  head[0] = machineIdTag;
  const length = writeVarint(head, 1, name.length);
  return Buffer.concat([head.subarray(0, length), name]);
}

/** The ConnectResponse that carries a machine's message: `idField` and the message's own bytes, side by side. */
export function frameFromMachine(idField: Buffer, message: Uint8Array): Buffer {
  const length = idField.length + message.length;
  const frame = Buffer.allocUnsafe(1 + varintLength(length) + length);
  frame[0] = fromMachineTag;
  const start = writeVarint(frame, 1, length);
  frame.set(idField, start);
  frame.set(message, start + idField.length);
  return frame;
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length += 1;
  return length;
}

function writeVarint(target: Buffer, at: number, value: number): number {
  let position = at;
  let rest = value;
  while (rest >= 128) {
    target[position] = (rest % 128) + 128;
    rest = Math.floor(rest / 128);
    position += 1;
  }
  target[position] = rest;
  return position + 1;
}

const dataTag = 0x0a;

/**
 * Turns a chunk whose only field is its data, numbered `field`, into one whose data is field 1, in place. Undefined
 * when there is more in it.
 */
export function renumberChunk(bytes: Buffer, field: number): Buffer | undefined {
  if (bytes.length === 0) return bytes;
  const walker = new WireWalker(bytes, 0, bytes.length);
  walker.next();
  if (walker.field !== field || walker.wireType !== 2) return undefined;
  walker.span();
  if (walker.position !== bytes.length) return undefined;
  bytes[0] = dataTag;
  return bytes;
}
