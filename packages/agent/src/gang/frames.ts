import { MutiraoError } from '@mutirao/api/errors';

/**
 * What goes over a gang's channel, both ways. A connection is for one command, or it is rank 0's link, which only says
 * that rank 0 is there.
 */
export type Frame =
  /** Rank 0: this connection is its link. */
  | { readonly kind: 'link' }
  /** Rank 0: run this, a line for /bin/sh -c. */
  | { readonly kind: 'run'; readonly command: Buffer }
  /** Rank 0: bytes of the command's standard input. */
  | { readonly kind: 'input'; readonly bytes: Buffer }
  | { readonly kind: 'inputEnd' }
  /** Rank 0: a signal for all processes of the command. */
  | { readonly kind: 'signal'; readonly number: number }
  /** Rank 0: nobody reads this stream of the command any more. */
  | { readonly kind: 'outputClosed'; readonly stream: OutputStream }
  /** Either: still there. */
  | { readonly kind: 'ping' }
  /** The member: it serves the gang. The answer to `link`. */
  | { readonly kind: 'ready' }
  /** The member: this many bytes of input have been written to the command, and as many more may come. */
  | { readonly kind: 'inputTaken'; readonly bytes: number }
  | { readonly kind: 'output'; readonly stream: OutputStream; readonly bytes: Buffer }
  /** The member: the command has ended and all of its output was sent. The status is as a shell reports it. */
  | { readonly kind: 'exit'; readonly status: number }
  /** The member: nothing is run, and why. */
  | { readonly kind: 'refused'; readonly reason: string };

/** One of a command's two streams. */
export type OutputStream = 'standardOutput' | 'standardError';

/** Most bytes of input or output that one frame carries. */
export const frameBytesMax = 64 * 1024;
/** Longest command line, and so the longest frame: what Linux takes as one argument, at most. */
export const commandBytesMax = 128 * 1024 - 1;
/** Most bytes of input that are sent ahead of what the command has taken. */
export const inputWindow = 4 * frameBytesMax;

const headBytes = 5;
const streams: readonly OutputStream[] = ['standardOutput', 'standardError'];
const kinds = [
  'link',
  'run',
  'input',
  'inputEnd',
  'signal',
  'outputClosed',
  'ping',
  'ready',
  'inputTaken',
  'output',
  'exit',
  'refused',
] as const satisfies readonly Frame['kind'][];
const nothing = Buffer.alloc(0);

/**
 * Writes a frame: a byte for the kind, four for the length of what follows, most significant first. @param frame its
 * bytes within the bounds above.
 */
export function encodeFrame(frame: Frame): Buffer {
  const body = encodeBody(frame);
  const head = Buffer.alloc(headBytes);
  head[0] = kinds.indexOf(frame.kind);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

function encodeBody(frame: Frame): Buffer {
  switch (frame.kind) {
    case 'run':
      return frame.command;
    case 'input':
      return frame.bytes;
    case 'output':
      return Buffer.concat([Buffer.of(streams.indexOf(frame.stream)), frame.bytes]);
    case 'outputClosed':
      return Buffer.of(streams.indexOf(frame.stream));
    case 'signal':
      return Buffer.of(frame.number);
    case 'exit':
      return Buffer.of(frame.status);
    case 'inputTaken':
      return encodeCount(frame.bytes);
    case 'refused':
      return Buffer.from(frame.reason.slice(0, 1000));
    case 'link':
    case 'inputEnd':
    case 'ping':
    case 'ready':
      return nothing;
  }
}

function encodeCount(count: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(count);
  return bytes;
}

/** Puts frames together from a stream of bytes, however it was cut. Holds at most one frame that is not complete. */
export class FrameReader {
  private rest: Buffer = nothing;
  private wanted = headBytes;
  private chunks: Buffer[] = [];
  private bytes = 0;

  /**
   * Takes the next bytes.
   *
   * @returns the frames that they complete, in order.
   * @throws {MutiraoError} MUT_PROTOCOL for bytes that are not a frame; then the stream is unusable.
   */
  take(chunk: Buffer): Frame[] {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    const frames: Frame[] = [];
    // Joined only once there is enough: a frame that comes in a thousand pieces is copied once.
    if (this.bytes < this.wanted) return frames;
    this.rest = Buffer.concat(this.chunks);
    for (let length = this.nextLength(); length !== undefined; length = this.nextLength()) {
      frames.push(decodeFrame(this.rest[0] ?? 0, this.rest.subarray(headBytes, headBytes + length)));
      this.rest = this.rest.subarray(headBytes + length);
    }
    this.chunks = this.rest.length === 0 ? [] : [this.rest];
    this.bytes = this.rest.length;
    return frames;
  }

  /** The length of the next frame's body; undefined while it is not all here. */
  private nextLength(): number | undefined {
    this.wanted = headBytes;
    if (this.rest.length < headBytes) return undefined;
    const length = this.rest.readUInt32BE(1);
    if (length > commandBytesMax)
      throw new MutiraoError(
        'MUT_PROTOCOL',
        `a frame of ${length} bytes on a gang's channel; expected at most ${commandBytesMax}`,
      );
    this.wanted = headBytes + length;
    return this.rest.length < this.wanted ? undefined : length;
  }
}

function decodeFrame(code: number, body: Buffer): Frame {
  const kind = kinds[code];
  switch (kind) {
    case 'link':
    case 'inputEnd':
    case 'ping':
    case 'ready':
      requireLength(kind, body, 0);
      return { kind };
    case 'run':
      return { kind, command: body };
    case 'input':
      return { kind, bytes: body };
    case 'output':
      return { kind, stream: decodeStream(body[0]), bytes: body.subarray(1) };
    case 'outputClosed':
      requireLength(kind, body, 1);
      return { kind, stream: decodeStream(body[0]) };
    case 'signal':
      requireLength(kind, body, 1);
      return { kind, number: body[0] ?? 0 };
    case 'exit':
      requireLength(kind, body, 1);
      return { kind, status: body[0] ?? 0 };
    case 'inputTaken':
      requireLength(kind, body, 4);
      return { kind, bytes: body.readUInt32BE(0) };
    case 'refused':
      return { kind, reason: body.toString() };
    default:
      throw new MutiraoError(
        'MUT_PROTOCOL',
        `frame of kind ${code} on a gang's channel; expected 0 to ${kinds.length - 1}`,
      );
  }
}

function requireLength(kind: string, body: Buffer, length: number): void {
  if (body.length !== length)
    throw new MutiraoError(
      'MUT_PROTOCOL',
      `frame ${kind} of ${body.length} bytes on a gang's channel; expected ${length}`,
    );
}

function decodeStream(code: number | undefined): OutputStream {
  const stream = code === undefined ? undefined : streams[code];
  if (stream === undefined)
    throw new MutiraoError('MUT_PROTOCOL', `stream ${code} on a gang's channel; expected 0 or 1`);
  return stream;
}
