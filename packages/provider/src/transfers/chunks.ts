import { asBuffer } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { PullContentResponse, PushContentRequest } from '@mutirao/api/machine';
import { SendContentRequest } from '@mutirao/api/provider';
import { describeError, type Bytes } from '@mutirao/core/shared';
import { renumberChunk } from '../relay/wire.ts';

/** Number of the data field in the chunks of each stream of contents. */
const sendDataField = 2;
const pushDataField = 3;

/** A stream of contents whose first chunk has been read. */
export interface OpenedStream<First> {
  readonly first: First;
  /** The data, framed as the receiving side reads it. */
  readonly chunks: AsyncIterable<Buffer>;
}

/** Opens the stream with which a broker brings a content. @throws {MutiraoError} MUT_PROTOCOL */
export function openSend(messages: AsyncIterable<Buffer>): Promise<OpenedStream<SendContentRequest>> {
  return open(messages, SendContentRequest, sendDataField);
}

/** A push whose first chunk has been read. */
export interface OpenedPush {
  readonly first: PushContentRequest;
  readonly chunks: PushedChunks;
}

/**
 * Opens the stream with which an agent pushes a content; the callback reports to the agent how many bytes it may leave
 * out.
 *
 * @throws {MutiraoError} MUT_PROTOCOL
 */
export async function openPush(messages: AsyncIterable<Buffer>, report: (offset: Bytes) => void): Promise<OpenedPush> {
  const iterator = messages[Symbol.asyncIterator]();
  const first = decodeChunk(PushContentRequest, await readFirst(iterator));
  return { first, chunks: new PushedChunks(first, iterator, report) };
}

/** What an agent pushes, framed as it is read, without what its taker has already. */
export class PushedChunks implements AsyncIterable<Buffer> {
  readonly #first: PushContentRequest;
  readonly #rest: AsyncIterator<Buffer>;
  readonly #report: (offset: Bytes) => void;
  #isRead = false;
  #from: Bytes = 0;
  #position: Bytes = 0;

  constructor(first: PushContentRequest, rest: AsyncIterator<Buffer>, report: (offset: Bytes) => void) {
    this.#first = first;
    this.#rest = rest;
    this.#report = report;
  }

  /** Whether anybody has begun to read it. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Somebody takes it, from an offset on. Before it is read. */
  begin(offset: Bytes): void {
    this.#from = offset;
    this.#report(offset);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    this.#isRead = true;
    yield* this.#take(this.#first);
    for (let next = await this.#rest.next(); next.done !== true; next = await this.#rest.next()) {
      const framed = this.#position < this.#from ? undefined : renumberChunk(next.value, pushDataField);
      if (framed === undefined) yield* this.#take(decodeChunk(PushContentRequest, next.value));
      else if (framed.length > 0) yield framed;
    }
  }

  /** Drops bytes that are here already, from an agent that did not receive the offset in time. */
  *#take({ data, offset }: PushContentRequest): Generator<Buffer> {
    if (offset > this.#from)
      throw new MutiraoError('MUT_PROTOCOL', `a push leaves out ${offset} bytes; expected ${this.#from} at most`);
    if (offset > 0) this.#position = offset;
    const missed = Math.max(0, this.#from - this.#position);
    this.#position += data.length;
    if (data.length > missed) yield frame(data.subarray(missed));
  }
}

interface ChunkCodec<First> {
  decode(bytes: Uint8Array): First;
}

async function open<First extends { readonly data: Uint8Array }>(
  messages: AsyncIterable<Buffer>,
  codec: ChunkCodec<First>,
  dataField: number,
): Promise<OpenedStream<First>> {
  const iterator = messages[Symbol.asyncIterator]();
  const first = decodeChunk(codec, await readFirst(iterator));
  return { first, chunks: rest(first.data, iterator, codec, dataField) };
}

async function readFirst(iterator: AsyncIterator<Buffer>): Promise<Buffer> {
  const result = await iterator.next();
  if (result.done === true)
    throw new MutiraoError('MUT_PROTOCOL', 'a stream of contents without a chunk; the first names the transfer');
  return result.value;
}

async function* rest<First extends { readonly data: Uint8Array }>(
  head: Uint8Array,
  iterator: AsyncIterator<Buffer>,
  codec: ChunkCodec<First>,
  dataField: number,
): AsyncGenerator<Buffer> {
  if (head.length > 0) yield frame(head);
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    yield renumberChunk(next.value, dataField) ?? frame(decodeChunk(codec, next.value).data);
  }
}

function frame(data: Uint8Array): Buffer {
  return asBuffer(PullContentResponse.encode({ data: asBuffer(data) }).finish());
}

function decodeChunk<First>(codec: ChunkCodec<First>, bytes: Buffer): First {
  try {
    return codec.decode(bytes);
  } catch (error) {
    throw new MutiraoError('MUT_PROTOCOL', `malformed message: ${describeError(error)}`, { cause: error });
  }
}
