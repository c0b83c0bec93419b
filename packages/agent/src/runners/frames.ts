/**
 * Frames between an agent and a runner. Each is the length of its body, as 4 bytes with the highest first, and the body:
 * one byte that names its kind, and fields, each with its length in 4 bytes before it.
 */

/** A call for a runner. */
export interface CallFrame {
  readonly number: number;
  /** Where it runs; its inputs are there. */
  readonly folder: string;
  readonly value: string;
  /** Of this call only. */
  readonly variables: Readonly<Record<string, string>>;
}

/** What a runner says. */
export type RunnerFrame =
  | { readonly kind: 'ready'; readonly protocolVersion: number }
  /** It has read a call, and nothing of it has run yet. */
  | { readonly kind: 'begun'; readonly number: number }
  | {
      readonly kind: 'ended';
      readonly number: number;
      /** As of a process. */
      readonly exitStatus: number;
      /** Processor time of the call in milliseconds; undefined where the runner does not say. */
      readonly processorMs: number | undefined;
    };

/** Longest body of a frame from a runner: it has a few numbers to say. */
const bodyMax = 64 * 1024;

/** Writes a call. */
export function encodeCall({ number, folder, value, variables }: CallFrame): Buffer {
  const assignments = Object.entries(variables).map(([name, text]) => `${name}=${text}`);
  const fields = [String(number), folder, value, ...assignments].map((field) => Buffer.from(field));
  const size = fields.reduce((sum, field) => sum + 4 + field.length, 1);
  const frame = Buffer.alloc(4 + size);
  frame.writeUInt32BE(size, 0);
  frame.write('C', 4, 'latin1');
  let at = 5;
  for (const field of fields) {
    frame.writeUInt32BE(field.length, at);
    at += 4 + field.copy(frame, at + 4);
  }
  return frame;
}

/** Reads the frames of a runner from the pieces in which they come. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that are complete now. @throws {Error} when they are not a frame; what follows cannot be read either. */
  read(bytes: Uint8Array): RunnerFrame[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const frames: RunnerFrame[] = [];
    for (;;) {
      if (this.#rest.length < 4) return frames;
      const size = this.#rest.readUInt32BE(0);
      if (size < 1 || size > bodyMax) throw new Error(`a frame of ${size} bytes; expected 1 to ${bodyMax}`);
      if (this.#rest.length < 4 + size) return frames;
      frames.push(decodeFrame(this.#rest.subarray(4, 4 + size)));
      this.#rest = this.#rest.subarray(4 + size);
    }
  }
}

function decodeFrame(body: Buffer): RunnerFrame {
  const kind = body.toString('latin1', 0, 1);
  const fields = readFields(body.subarray(1));
  if (kind === 'R') return { kind: 'ready', protocolVersion: readNumber(fields[0], 'protocol version') };
  if (kind === 'B') return { kind: 'begun', number: readNumber(fields[0], 'number of a call') };
  if (kind !== 'E') throw new Error(`a frame of the unknown kind ${JSON.stringify(kind)}; expected R, B or E`);
  const [number, exitStatus, processorMs = ''] = fields;
  const status = readNumber(exitStatus, 'exit status');
  if (status > 255) throw new Error(`the exit status ${status}; expected 0 to 255`);
  return {
    kind: 'ended',
    number: readNumber(number, 'number of a call'),
    exitStatus: status,
    processorMs: processorMs === '' ? undefined : readNumber(processorMs, 'processor time'),
  };
}

function readFields(body: Buffer): string[] {
  const fields: string[] = [];
  for (let at = 0; at < body.length; ) {
    const size = body.length - at < 4 ? Infinity : body.readUInt32BE(at);
    if (at + 4 + size > body.length) throw new Error('a frame that is cut short');
    fields.push(body.toString('utf8', at + 4, at + 4 + size));
    at += 4 + size;
  }
  return fields;
}

function readNumber(text: string | undefined, what: string): number {
  if (text === undefined || !/^\d{1,15}$/.test(text))
    throw new Error(`${what} ${JSON.stringify(text ?? '')}; expected a whole number`);
  return Number(text);
}
