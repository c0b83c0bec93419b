import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { Content } from '@mutirao/core/messages';
import type { Bytes, UserId } from '@mutirao/core/shared';
import { inFolder } from '@mutirao/runtime/files';

const chunkBytes = 256 * 1024;
const partPrefix = 'part-';
const userPrefix = 'user-';

/** Where blobs are kept. */
export interface BlobsOptions {
  /** The owner's are in it, those of each other user in a folder of hers below. */
  readonly folder: string;
  readonly ownerId: UserId;
  /** Of one blob. */
  readonly sizeMax: Bytes;
}

/**
 * Contents that users uploaded, and outputs that have no place at home: a file each, named by its hash.
 *
 * Each user has her own, so that who knows a hash learns nothing of what others have.
 */
export class Blobs {
  readonly #options: BlobsOptions;
  /** Folders of users other than the owner, by name. */
  readonly #others: Set<string>;
  #partCount = 0;

  private constructor(options: BlobsOptions, others: Set<string>) {
    this.#options = options;
    this.#others = others;
  }

  /** Opens the folder, makes it where it is missing, and removes uploads that were cut off. */
  static async open(options: BlobsOptions): Promise<Blobs> {
    const { folder } = options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const others = new Set<string>();
    for (const name of await readdir(folder)) {
      if (name.startsWith(partPrefix)) await rm(join(folder, name), { force: true });
      else if (name.startsWith(userPrefix)) others.add(name);
    }
    return new Blobs(options, others);
  }

  /** Where the bytes of a user's content are, or would be. */
  pathOf(userId: UserId, sha256: string): string {
    const { folder, ownerId } = this.#options;
    if (userId === ownerId) return join(folder, sha256);
    const name = `${userPrefix}${createHash('sha256').update(userId).digest('hex').slice(0, 32)}`;
    this.#others.add(name);
    return join(folder, name, sha256);
  }

  /** Whether a user has a content here. */
  has(userId: UserId, sha256: string): boolean {
    return existsSync(this.pathOf(userId, sha256));
  }

  /** The bytes of a content that some user has: whose it is was looked at when the job was submitted. Undefined when nobody has it. */
  findPath(sha256: string): string | undefined {
    const { folder } = this.#options;
    return ['', ...this.#others].map((name) => join(folder, name, sha256)).find((path) => existsSync(path));
  }

  /** Keeps what a stream brings for a user and says which content it is. @throws {MutiraoError} MUT_BAD_REQUEST when there is too much. */
  async keep(userId: UserId, chunks: AsyncIterable<Uint8Array>): Promise<Content> {
    const { folder, sizeMax } = this.#options;
    this.#partCount += 1;
    const part = join(folder, `${partPrefix}${process.pid}-${this.#partCount}`);
    const hash = createHash('sha256');
    let size = 0;
    const file = await inFolder(folder, () => open(part, 'wx', 0o600));
    try {
      try {
        for await (const chunk of chunks) {
          size += chunk.length;
          if (size > sizeMax) throw new MutiraoError('MUT_BAD_REQUEST', `the blob has more than ${sizeMax} bytes; want at most that`);
          hash.update(chunk);
          await file.writeFile(chunk);
        }
      } finally {
        await file.close();
      }
      const sha256 = hash.digest('hex');
      const path = this.pathOf(userId, sha256);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(part, path);
      return { sha256, size };
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  }

  /** The bytes of a user's content, a chunk at a time. @throws {MutiraoError} MUT_CONTENT_NOT_FOUND. */
  async *read(userId: UserId, sha256: string): AsyncGenerator<Buffer> {
    const file = await open(this.pathOf(userId, sha256), 'r').catch((error: unknown) => {
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
