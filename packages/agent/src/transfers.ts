import { open } from 'node:fs/promises';
import { encodeContent } from '@mutirao/api/codecs';
import type { GridMachineServiceClient, PushContentRequest, PushContentResponse } from '@mutirao/api/machine';
import type { Content } from '@mutirao/core/messages';
import type { ContentStore } from '@mutirao/runtime/files';
import { messagesOf, openSending } from '@mutirao/runtime/rpc';

const chunkBytes = 256 * 1024;

/** Fetches a content into the store as fast as the disk takes it. @throws {MutiraoError} of the transfer or the store. */
export async function pullContent(client: GridMachineServiceClient, transferId: string, content: Content, store: ContentStore): Promise<void> {
  const messages = messagesOf(client.pullContent({ transferId }));
  await store.putStream(chunksOf(messages), { content });
}

async function* chunksOf(messages: AsyncIterable<{ readonly data: Uint8Array }>): AsyncGenerator<Uint8Array> {
  for await (const { data } of messages) yield data;
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
  const { writer, response, cancel } = openSending<PushContentRequest, PushContentResponse>((done) => client.pushContent(done));
  try {
    writer.write({ transferId: target.transferId, machineId: target.machineId, content: encodeContent(target.content), data: Buffer.alloc(0) });
    let position = 0;
    for (;;) {
      // A new buffer each time: the one before may still be on its way.
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(chunkBytes), 0, chunkBytes, position);
      if (bytesRead === 0) break;
      position += bytesRead;
      const hasRoom = writer.write({ transferId: '', machineId: '', content: undefined, data: buffer.subarray(0, bytesRead) });
      if (!hasRoom) await writer.drained();
    }
    writer.end();
    await response;
  } catch (error) {
    cancel();
    throw error;
  }
}
