import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { chunkHeadroom, frameChunk } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { Bytes } from '@mutirao/core/shared';
import { hashHandle, openRegular } from '@mutirao/runtime/files';
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
  /**
   * What a file must hold that this process did not write: it is hashed before the first byte is sent. Left out for
   * files of our own store.
   */
  readonly sha256?: string;
  /** Called with the number of bytes that were sent. */
  onBytes(count: Bytes): void;
  /** Throws when the transfer must stop. */
  requireContinue(): void;
}

/**
 * Sends a file as fast as the other side takes it, and as it grows.
 *
 * @throws {MutiraoError} MUT_TRANSFER_FAILED; MUT_CONTENT_MISMATCH before the first byte, for a file that must hold
 * something else; what ended the growth.
 */
export async function serveFile(serving: Serving, writer: StreamWriter<Buffer>): Promise<void> {
  await using file = await openFirst(serving.paths);
  const guard = serving.sha256 === undefined ? undefined : await HashedFile.read(file, serving.sha256, serving.size);
  const buffers: Buffer[] = [];
  let position = serving.offset;
  for (let turn = 0; position < serving.size; turn = (turn + 1) % buffersCount) {
    await serving.progress?.past(position);
    serving.requireContinue();
    const readable = serving.progress?.written ?? serving.size;
    const buffer = (buffers[turn] ??= Buffer.allocUnsafeSlow(chunkHeadroom + chunkBytes));
    const { bytesRead } = await file.read(buffer, chunkHeadroom, Math.min(chunkBytes, readable - position), position);
    if (bytesRead === 0)
      throw new MutiraoError('MUT_TRANSFER_FAILED', `a kept file has ${position} bytes; expected ${serving.size}`);
    await guard?.requireUnchanged();
    position += bytesRead;
    writer.write(frameChunk(buffer, bytesRead, dataField));
    await writer.drained();
    serving.onBytes(bytesRead);
  }
}

/** An open file of somebody else's that held a content when it was hashed. */
class HashedFile {
  readonly #file: FileHandle;
  readonly #stamp: string;

  private constructor(file: FileHandle, stamp: string) {
    this.#file = file;
    this.#stamp = stamp;
  }

  /** @throws {MutiraoError} MUT_CONTENT_MISMATCH */
  static async read(file: FileHandle, sha256: string, size: Bytes): Promise<HashedFile> {
    const hashed = new HashedFile(file, getStamp(await file.stat({ bigint: true })));
    const found = await hashHandle(file, size + 1);
    if (found.sha256 !== sha256 || found.size !== size)
      throw new MutiraoError(
        'MUT_CONTENT_MISMATCH',
        `the file of a content holds ${found.sha256} of ${found.size} bytes; expected ${sha256} of ${size}`,
      );
    await hashed.requireUnchanged();
    return hashed;
  }

  /** What was read since the hash is what was hashed. @throws {MutiraoError} MUT_CONTENT_MISMATCH */
  async requireUnchanged(): Promise<void> {
    if (getStamp(await this.#file.stat({ bigint: true })) !== this.#stamp)
      throw new MutiraoError('MUT_CONTENT_MISMATCH', 'the file of a content was written to while it was sent');
  }
}

/** Changes with each write: an ordinary account cannot set the time of change of a file's status. */
function getStamp({ size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${size} ${mtimeNs} ${ctimeNs}`;
}

async function openFirst(paths: readonly string[]): Promise<FileHandle> {
  let last: unknown;
  for (const path of paths) {
    try {
      return await openRegular(path);
    } catch (error) {
      last = error;
    }
  }
  throw new MutiraoError('MUT_TRANSFER_FAILED', 'a content that was offered is not kept any more', { cause: last });
}
