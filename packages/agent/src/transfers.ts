import { open } from 'node:fs/promises';
import { chunkHeadroom, encodeContent, frameChunk, offsetHeader, chunkData } from '@mutirao/api/codecs';
import {
  GridMachineServiceService,
  PullContentResponse,
  PushContentRequest,
  type GridMachineServiceClient,
} from '@mutirao/api/machine';
import type { Content } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import { fsPath, type ContentStore } from '@mutirao/runtime/files';
import { openRawSending, listRawMessages } from '@mutirao/runtime/rpc';
import { BufferCollector } from './buffer-collector.ts';

const chunkBytes = 128 * 1024;
/** A stream takes 16 messages before it says that it is full, and holds on to them until they are sent. */
const buffersCount = 18;
/** Numbers of the data fields in PullContentResponse and PushContentRequest. */
const pullDataField = 1;
const pushDataField = 3;

/** What a transfer brings: all of a content from `offset` on. */
export interface PulledRest {
  readonly content: Content;
  readonly offset: Bytes;
}

/**
 * Fetches a content into the store as fast as the disk takes it. @throws {MutiraoError} of the transfer or the store.
 */
export async function pullContent(
  client: GridMachineServiceClient,
  transferId: string,
  { content, offset }: PulledRest,
  store: ContentStore,
): Promise<void> {
  await store.putRest(
    getChunks(listRawMessages(client, GridMachineServiceService.pullContent, { transferId })),
    content,
    offset,
  );
}

/**
 * Takes up a transfer that is not wanted and leaves it at once, so that its giver does not wait for us. Never rejects.
 */
export async function declineContent(client: GridMachineServiceClient, transferId: string): Promise<void> {
  const messages = listRawMessages(client, GridMachineServiceService.pullContent, { transferId });
  try {
    await messages.next();
    await messages.return(undefined);
  } catch {
    // It is over, or somebody takes it: either is well.
  }
}

/** The bytes as views of the messages that bring them. */
async function* getChunks(messages: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  const collector = new BufferCollector();
  for await (const message of messages) {
    collector.count(message.length);
    yield chunkData(message, pullDataField, PullContentResponse);
  }
}

/** What a push says of itself. */
export interface PushTarget {
  readonly transferId: string;
  /** As the agent called itself. */
  readonly machineId: string;
  readonly content: Content;
  /**
   * For a push that was cut off before: sends only what the other side has not stored yet, and receives how much that
   * is. Left out, all is sent.
   */
  readonly goOn?: (stored: Bytes) => void;
}

/**
 * Sends a file as fast as the other side takes it; resolves when all of it is at the broker.
 *
 * What was added to the file since it was announced is not sent. @throws {MutiraoError} of the transfer.
 */
export async function pushContent(client: GridMachineServiceClient, target: PushTarget, path: string): Promise<void> {
  await using file = await open(fsPath(path), 'r');
  const { writer, beginning, response, cancel } = openRawSending(client, GridMachineServiceService.pushContent);
  try {
    const { transferId, machineId, content, goOn } = target;
    writer.write(encodePush({ transferId, machineId, content: encodeContent(content) }));
    let position = 0;
    if (goOn !== undefined) {
      position = readOffset(await beginning, content.size);
      goOn(position);
      writer.write(encodePush({ offset: position }));
    }
    // The same few buffers over and over: new ones would fill the memory before they are collected.
    const buffers = Array.from({ length: buffersCount }, () => Buffer.allocUnsafeSlow(chunkHeadroom + chunkBytes));
    const collector = new BufferCollector();
    for (let index = 0; ; index = (index + 1) % buffersCount) {
      const buffer = buffers[index] ?? Buffer.alloc(0);
      const { bytesRead } = await file.read(
        buffer,
        chunkHeadroom,
        Math.min(chunkBytes, content.size - position),
        position,
      );
      if (bytesRead === 0) break;
      position += bytesRead;
      collector.count(bytesRead);
      if (!writer.write(frameChunk(buffer, bytesRead, pushDataField))) await writer.drained();
    }
    writer.end();
    await response;
  } catch (error) {
    cancel();
    throw error;
  }
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

/** Where a push may begin; at the beginning, where nothing sensible is said. */
function readOffset(values: ReadonlyMap<string, string>, size: Bytes): Bytes {
  const offset = Number(values.get(offsetHeader));
  return Number.isSafeInteger(offset) && offset > 0 && offset <= size ? offset : 0;
}
