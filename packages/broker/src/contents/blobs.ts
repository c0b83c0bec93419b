import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { errorOfRefusal, MutiraoError } from '@mutirao/api/errors';
import { allowedQuota, findQuotaExcess, noQuotaRules, type QuotaRules, type QuotaUse } from '@mutirao/core/quotas';
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
  /** What users may keep; no bounds when left out. */
  readonly quotas?: QuotaRules;
}

/** How long the measured size of a user's folder is used, with new arrivals added. */
const sizeAgeMax = 10_000;

interface KnownSize {
  bytes: Bytes;
  readonly readAt: number;
}

/**
 * Contents that users uploaded, and outputs that have no place at home: a file each, named by its hash.
 *
 * Each user has her own, so that knowing a hash reveals nothing of what others have.
 */
export class Blobs {
  readonly #options: BlobsOptions;
  /** Folders of users other than the owner, by name. */
  readonly #others: Set<string>;
  readonly #sizes = new Map<UserId, KnownSize>();
  /** Bytes of uploads that are on their way. */
  readonly #arriving = new Map<UserId, Bytes>();
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
  getPath(userId: UserId, sha256: string): string {
    const { folder, ownerId } = this.#options;
    if (userId === ownerId) return join(folder, sha256);
    const name = `${userPrefix}${createHash('sha256').update(userId).digest('hex').slice(0, 32)}`;
    this.#others.add(name);
    return join(folder, name, sha256);
  }

  /** Whether a user has a content here. */
  has(userId: UserId, sha256: string): boolean {
    return existsSync(this.getPath(userId, sha256));
  }

  /**
   * The bytes of a content that some user has: whose it is was looked at when the job was submitted. Undefined when
   * nobody has it.
   */
  findPath(sha256: string): string | undefined {
    const { folder } = this.#options;
    return ['', ...this.#others].map((name) => join(folder, name, sha256)).find((path) => existsSync(path));
  }

  /**
   * What a user keeps here, and may keep. Cost: as many calls of the system as the user has contents, once in 10 s;
   * none for users without a quota.
   */
  async usesOf(userId: UserId): Promise<QuotaUse> {
    const allowed = allowedQuota(this.#rules, userId, 'blob-bytes');
    return { name: 'blob-bytes', used: (await this.#getBytes(userId)) + (this.#arriving.get(userId) ?? 0), allowed };
  }

  /** @throws {MutiraoError} MUT_USER_QUOTA when a user keeps more than is allowed, or would with `more`. */
  async requireQuota(userId: UserId, more: Bytes): Promise<void> {
    if (allowedQuota(this.#rules, userId, 'blob-bytes') === Infinity) return;
    const { used } = await this.usesOf(userId);
    const excess = findQuotaExcess(this.#rules, userId, { name: 'blob-bytes', used, more });
    if (excess !== undefined) throw errorOfRefusal({ code: 'MUT_USER_QUOTA', ...excess });
  }

  get #rules(): QuotaRules {
    return this.#options.quotas ?? noQuotaRules;
  }

  async #getBytes(userId: UserId): Promise<Bytes> {
    const known = this.#sizes.get(userId);
    if (known !== undefined && performance.now() - known.readAt < sizeAgeMax) return known.bytes;
    const bytes = await sizeOfFolder(dirname(this.getPath(userId, 'x')));
    this.#sizes.set(userId, { bytes, readAt: performance.now() });
    return bytes;
  }

  /** Notes bytes that are on their way, or are there or given up. */
  #noteArriving(userId: UserId, bytes: Bytes): void {
    this.#arriving.set(userId, (this.#arriving.get(userId) ?? 0) + bytes);
  }

  /**
   * Keeps what a stream brings for a user and says which content it is. @throws {MutiraoError} MUT_BAD_REQUEST when
   * there is too much, MUT_USER_QUOTA when it is more than the user may keep.
   */
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
          this.#noteArriving(userId, chunk.length);
          await this.requireQuota(userId, 0);
          if (size > sizeMax)
            throw new MutiraoError('MUT_BAD_REQUEST', `the blob has more than ${sizeMax} bytes; expected at most that`);
          hash.update(chunk);
          await file.writeFile(chunk);
        }
      } finally {
        await file.close();
      }
      const sha256 = hash.digest('hex');
      const path = this.getPath(userId, sha256);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const isNew = !existsSync(path);
      await rename(part, path);
      const known = this.#sizes.get(userId);
      if (known !== undefined && isNew) known.bytes += size;
      return { sha256, size };
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    } finally {
      this.#noteArriving(userId, -size);
    }
  }

  /** The bytes of a user's content, a chunk at a time. @throws {MutiraoError} MUT_CONTENT_NOT_FOUND. */
  async *read(userId: UserId, sha256: string): AsyncGenerator<Buffer> {
    const file = await open(this.getPath(userId, sha256), 'r').catch((error: unknown) => {
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

/** The bytes of the files in a folder; 0 where there is none. What goes meanwhile is left out. */
async function sizeOfFolder(folder: string): Promise<Bytes> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    if (entry.isFile()) bytes += (await stat(join(folder, entry.name)).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}
