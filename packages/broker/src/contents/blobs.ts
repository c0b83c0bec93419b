import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { Content } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';

const chunkBytes = 256 * 1024;
const partPrefix = 'part-';

/** Contents that users uploaded, and outputs that have no place at home: a file each, named by its hash. */
export class Blobs {
  readonly #folder: string;
  readonly #sizeMax: Bytes;
  #partCount = 0;

  private constructor(folder: string, sizeMax: Bytes) {
    this.#folder = folder;
    this.#sizeMax = sizeMax;
  }

  /** Opens the folder, makes it where it is missing, and removes uploads that were cut off. */
  static async open(folder: string, sizeMax: Bytes): Promise<Blobs> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(folder)) {
      if (name.startsWith(partPrefix)) await rm(join(folder, name), { force: true });
    }
    return new Blobs(folder, sizeMax);
  }

  /** Where the bytes of a content are, or would be. */
  pathOf(sha256: string): string {
    return join(this.#folder, sha256);
  }

  /** Whether a content is here. */
  has(sha256: string): boolean {
    return existsSync(this.pathOf(sha256));
  }

  /** Keeps what a stream brings and says which content it is. @throws {MutiraoError} MUT_BAD_REQUEST when there is too much. */
  async keep(chunks: AsyncIterable<Uint8Array>): Promise<Content> {
    this.#partCount += 1;
    const part = join(this.#folder, `${partPrefix}${process.pid}-${this.#partCount}`);
    const hash = createHash('sha256');
    let size = 0;
    const file = await open(part, 'wx', 0o600);
    try {
      try {
        for await (const chunk of chunks) {
          size += chunk.length;
          if (size > this.#sizeMax) throw new MutiraoError('MUT_BAD_REQUEST', `the blob has more than ${this.#sizeMax} bytes; want at most that`);
          hash.update(chunk);
          await file.writeFile(chunk);
        }
      } finally {
        await file.close();
      }
      const sha256 = hash.digest('hex');
      await rename(part, this.pathOf(sha256));
      return { sha256, size };
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  }

  /** The bytes of a content, a chunk at a time. @throws {MutiraoError} MUT_CONTENT_NOT_FOUND. */
  async *read(sha256: string): AsyncGenerator<Buffer> {
    const file = await open(this.pathOf(sha256), 'r').catch((error: unknown) => {
      throw new MutiraoError('MUT_CONTENT_NOT_FOUND', `content ${sha256} is not here`, { cause: error });
    });
    try {
      for (;;) {
        const chunk = Buffer.allocUnsafe(chunkBytes);
        const { bytesRead } = await file.read(chunk, 0, chunkBytes);
        if (bytesRead === 0) return;
        yield chunk.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }
}
