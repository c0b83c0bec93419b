import { open } from 'node:fs/promises';
import { chunkHeadroom, encodeContent, frameChunk, readChunk } from '@mutirao/api/codecs';
import { GridMachineServiceService, PullContentResponse, PushContentRequest, type GridMachineServiceClient } from '@mutirao/api/machine';
import type { Content } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import type { ContentStore } from '@mutirao/runtime/files';
import { openRawSending, rawMessagesOf } from '@mutirao/runtime/rpc';
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

/** Fetches a content into the store as fast as the disk takes it. @throws {MutiraoError} of the transfer or the store. */
export async function pullContent(client: GridMachineServiceClient, transferId: string, { content, offset }: PulledRest, store: ContentStore): Promise<void> {
  await store.putRest(chunksOf(rawMessagesOf(client, GridMachineServiceService.pullContent, { transferId })), content, offset);
}

/** The bytes as views of the messages that bring them. */
async function* chunksOf(messages: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  const collector = new BufferCollector();
  for await (const message of messages) {
    collector.count(message.length);
    yield readChunk(message, pullDataField) ?? PullContentResponse.decode(message).data;
  }
}

/** What a push says of itself. */
export interface PushTarget {
  readonly transferId: string;
  /** As the agent called itself. */
  readonly machineId: string;
  readonly content: Content;
}

/** Sends a file as fast as the other side takes it; resolves when all of it is at the broker. @throws {MutiraoError} of the transfer. */
export async function pushContent(client: GridMachineServiceClient, target: PushTarget, path: string): Promise<void> {
  await using file = await open(path, 'r');
  const { writer, response, cancel } = openRawSending(client, GridMachineServiceService.pushContent);
  try {
    const { transferId, machineId, content } = target;
    writer.write(Buffer.from(PushContentRequest.encode({ transferId, machineId, content: encodeContent(content), data: Buffer.alloc(0), offset: 0 }).finish()));
    // The same few buffers over and over: new ones would fill the memory before they are collected.
    const buffers = Array.from({ length: buffersCount }, () => Buffer.allocUnsafeSlow(chunkHeadroom + chunkBytes));
    const collector = new BufferCollector();
    for (let position = 0, index = 0; ; index = (index + 1) % buffersCount) {
      const buffer = buffers[index] ?? Buffer.alloc(0);
      const { bytesRead } = await file.read(buffer, chunkHeadroom, chunkBytes, position);
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
