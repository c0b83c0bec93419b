import { open, type FileHandle } from 'node:fs/promises';
import { chunkHeadroom, frameChunk } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { Bytes } from '@mutirao/core/shared';
import type { StreamWriter } from '@mutirao/runtime/rpc';
import type { GrowingFile } from './growing-file.ts';

const chunkBytes = 128 * 1024;
/** A stream takes 16 messages before it says that it is full, and holds on to them until they are sent. */
const buffersCount = 18;
/** Number of the data field in PullContentResponse. */
const dataField = 1;

/** A file to be sent as the chunks of a transfer. */
export interface Serving {
  /** Where it may be, the first that is there: a part is renamed when it is whole. */
  readonly paths: readonly string[];
  readonly size: Bytes;
  /** Where to begin. */
  readonly offset: Bytes;
  /** Says how far it can be read; undefined for a file that is whole. */
  readonly progress: GrowingFile | undefined;
  /** Hears of bytes that were sent. */
  onBytes(count: Bytes): void;
  /** Throws when it is to stop. */
  demandGoOn(): void;
}

/** Sends a file as fast as the other side takes it, and as it grows. @throws {MutiraoError} MUT_TRANSFER_FAILED, or what ended the growth. */
export async function serveFile(serving: Serving, writer: StreamWriter<Buffer>): Promise<void> {
  await using file = await openFirst(serving.paths);
  const buffers: Buffer[] = [];
  let position = serving.offset;
  for (let turn = 0; position < serving.size; turn = (turn + 1) % buffersCount) {
    await serving.progress?.past(position);
    serving.demandGoOn();
    const readable = serving.progress?.written ?? serving.size;
    const buffer = (buffers[turn] ??= Buffer.allocUnsafeSlow(chunkHeadroom + chunkBytes));
    const { bytesRead } = await file.read(buffer, chunkHeadroom, Math.min(chunkBytes, readable - position), position);
    if (bytesRead === 0) throw new MutiraoError('MUT_TRANSFER_FAILED', `a kept file has ${position} bytes; want ${serving.size}`);
    position += bytesRead;
    writer.write(frameChunk(buffer, bytesRead, dataField));
    await writer.drained();
    serving.onBytes(bytesRead);
  }
}

async function openFirst(paths: readonly string[]): Promise<FileHandle> {
  let last: unknown;
  for (const path of paths) {
    try {
      return await open(path, 'r');
    } catch (error) {
      last = error;
    }
  }
  throw new MutiraoError('MUT_TRANSFER_FAILED', 'a content that was offered is not kept any more', { cause: last });
}
