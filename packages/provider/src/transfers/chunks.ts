import { MutiraoError } from '@mutirao/api/errors';
import { PullContentResponse, PushContentRequest } from '@mutirao/api/machine';
import { SendContentRequest } from '@mutirao/api/provider';
import { asBuffer } from '../relay/frames.ts';
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

/** Opens the stream with which an agent pushes a content. @throws {MutiraoError} MUT_PROTOCOL */
export function openPush(messages: AsyncIterable<Buffer>): Promise<OpenedStream<PushContentRequest>> {
  return open(messages, PushContentRequest, pushDataField);
}

interface ChunkCodec<First> {
  decode(bytes: Uint8Array): First;
}

async function open<First extends { readonly data: Uint8Array }>(messages: AsyncIterable<Buffer>, codec: ChunkCodec<First>, dataField: number): Promise<OpenedStream<First>> {
  const iterator = messages[Symbol.asyncIterator]();
  const result = await iterator.next();
  if (result.done === true) throw new MutiraoError('MUT_PROTOCOL', 'a stream of contents without a chunk; the first names the transfer');
  const first = decodeChunk(codec, result.value);
  return { first, chunks: rest(first.data, iterator, codec, dataField) };
}

async function* rest<First extends { readonly data: Uint8Array }>(head: Uint8Array, iterator: AsyncIterator<Buffer>, codec: ChunkCodec<First>, dataField: number): AsyncGenerator<Buffer> {
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
    throw new MutiraoError('MUT_PROTOCOL', `malformed message: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
