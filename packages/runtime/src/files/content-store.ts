import { createHash, type Hash } from 'node:crypto';
import { constants, statSync } from 'node:fs';
import { chmod, link, mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { Content } from '@mutirao/core/messages';
import { invariant, type Bytes } from '@mutirao/core/shared';
import { fsPath } from './byte-names.ts';
import { fileError } from './file-errors.ts';
import { makeFreshFolder } from './fresh-folder.ts';
import { hashRegular } from './hash-file.ts';
import { inFolder } from './make-folder.ts';
import { openRegular } from './open-regular.ts';
import { isFullDisk } from './room.ts';

/** What is known of a stream of bytes before it comes. */
export interface Expectation {
  /** Refuses anything else. */
  readonly content?: Content;
  /** Refuses more; no bound when left out. */
  readonly bytesMax?: Bytes;
}

/** How a store keeps its contents. */
export interface ContentStoreOptions {
  /** Whether a content that was put outlives the machine, not only the process. A cache need not. */
  readonly isDurable: boolean;
}

/**
 * A folder of contents by their hash: `ab/<sha256>`, read-only files, each whole from the moment it appears.
 *
 * Storing a content again is harmless. One process at a time has a folder open.
 */
export class ContentStore {
  readonly folder: string;
  readonly #drafts: string;
  readonly #isDurable: boolean;
  #draftCount = 0;

  /** Makes the folder if it is absent, and clears drafts that a killed process left. */
  constructor(folder: string, options: ContentStoreOptions) {
    this.folder = folder;
    this.#isDurable = options.isDurable;
    this.#drafts = makeFreshFolder(join(folder, 'tmp'));
  }

  /** Where a content is, or would be. */
  path(sha256: string): string {
    // The name becomes a path: anything but a hash here would let a peer choose a file.
    invariant(/^[0-9a-f]{64}$/.test(sha256), `not a hash: ${sha256}`);
    return join(this.folder, sha256.slice(0, 2), sha256);
  }

  has(sha256: string): boolean {
    return this.size(sha256) !== undefined;
  }

  /** Undefined when it is not there. */
  size(sha256: string): Bytes | undefined {
    return getSize(this.path(sha256));
  }

  /** All contents, in no order; for a cache that starts again. */
  async list(): Promise<Content[]> {
    const names = await readdir(this.folder, { recursive: true });
    const hashes = names.map((name) => name.slice(3)).filter((name) => /^[0-9a-f]{64}$/.test(name));
    return hashes.map((sha256) => ({ sha256, size: this.size(sha256) ?? 0 }));
  }

  /** Keeps a few bytes. @throws {MutiraoError} MUT_DISK_FULL */
  async putBytes(bytes: Uint8Array): Promise<Content> {
    const content = { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
    if (this.size(content.sha256) === content.size) return content;
    return this.putStream([bytes], { content });
  }

  /**
   * Keeps what a stream brings, which is read as fast as the disk takes it.
   *
   * @throws {MutiraoError} MUT_CONTENT_MISMATCH when it is not what was expected; MUT_CONTENT_TOO_LARGE as soon as it
   * is more than expected or allowed; MUT_DISK_FULL; what the stream throws. Nothing is kept then.
   */
  async putStream(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, expected: Expectation): Promise<Content> {
    const draft = this.#nextDraft();
    try {
      const hash = createHash('sha256');
      const size = await this.#writeDraft(draft, source, {
        hash,
        bytesMax: Math.min(expected.content?.size ?? Infinity, expected.bytesMax ?? Infinity),
      });
      const content = { sha256: hash.digest('hex'), size };
      verify(content, expected.content);
      await this.#publish(draft, content.sha256);
      return content;
    } catch (error) {
      await rm(draft, { force: true });
      throw fileError(error, draft);
    }
  }

  /** Where the beginning of a content is that a stream which broke has left. */
  partPath(sha256: string): string {
    return join(this.#drafts, `part-${basename(this.path(sha256))}`);
  }

  /** Bytes of it; 0 when there is none. */
  partSize(sha256: string): Bytes {
    return getSize(this.partPath(sha256)) ?? 0;
  }

  /** Forgets what a stream which broke has left of a content. */
  async dropPart(sha256: string): Promise<void> {
    await rm(this.partPath(sha256), { force: true });
  }

  /**
   * As `putStream`, of a content whose first `offset` bytes are left from a stream that broke. What comes is left too
   * where this one breaks. One at a time for each content.
   *
   * @throws {MutiraoError} as `putStream`; MUT_TRANSFER_FAILED where fewer bytes are left, or the stream ends too
   * early.
   */
  async putRest(source: AsyncIterable<Uint8Array>, content: Content, offset: Bytes): Promise<Content> {
    const part = this.partPath(content.sha256);
    if (this.partSize(content.sha256) < offset)
      throw new MutiraoError(
        'MUT_TRANSFER_FAILED',
        `a transfer begins at byte ${offset} of ${content.sha256}; expected ${this.partSize(content.sha256)} at most`,
      );
    try {
      const hash = createHash('sha256');
      const size = await writeRest(part, source, { hash, offset, bytesMax: content.size, isDurable: this.#isDurable });
      if (size < content.size)
        throw new MutiraoError(
          'MUT_TRANSFER_FAILED',
          `a transfer of ${content.sha256} ended after ${size} bytes; expected ${content.size}`,
        );
      verify({ sha256: hash.digest('hex'), size }, content);
      await chmod(part, 0o400);
      await this.#publish(part, content.sha256);
      return content;
    } catch (error) {
      // The next transfer cannot use bytes that are wrong or did not fit on the disk.
      if (isWrong(error) || isFullDisk(error)) await rm(part, { force: true });
      throw fileError(error, part);
    }
  }

  /**
   * Keeps a copy of a regular file; a link to one is not followed. @throws {MutiraoError} MUT_FILE_NOT_FOUND; as
   * `putStream`.
   */
  async putFile(path: string, expected: Expectation = {}): Promise<Content> {
    await using file = await openRegular(path);
    return await this.putStream(
      file.createReadStream({ highWaterMark: 1024 * 1024, autoClose: false }) as AsyncIterable<Uint8Array>,
      expected,
    );
  }

  /**
   * Keeps a file that nobody writes any more by sharing it, where the two are on one file system; else a copy of it.
   *
   * @throws {MutiraoError} as `putStream`.
   */
  async putLink(path: string, content: Content): Promise<Content> {
    const draft = this.#nextDraft();
    try {
      await inFolder(this.#drafts, () => link(fsPath(path), draft));
      verify(await hashRegular(draft), content);
      await this.#publish(draft, content.sha256);
      // Of two names of the same file a rename leaves both.
      await rm(draft, { force: true });
      return content;
    } catch (error) {
      await rm(draft, { force: true });
      if (isUnlinkable(error)) return await this.putFile(path, { content });
      throw fileError(error, path);
    }
  }

  /** Forgets a content. Whether it was there. */
  async remove(sha256: string): Promise<boolean> {
    const wasThere = this.has(sha256);
    await rm(this.path(sha256), { force: true });
    return wasThere;
  }

  #nextDraft(): string {
    this.#draftCount += 1;
    return join(this.#drafts, String(this.#draftCount));
  }

  async #writeDraft(
    draft: string,
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    { hash, bytesMax }: { readonly hash: Hash; readonly bytesMax: Bytes },
  ): Promise<Bytes> {
    await using file = await inFolder(this.#drafts, () => open(draft, 'wx', 0o400));
    let size = 0;
    for await (const chunk of source) {
      size += chunk.length;
      if (size > bytesMax)
        throw new MutiraoError('MUT_CONTENT_TOO_LARGE', `content has more than ${bytesMax} bytes, the limit`);
      const written = writeAll(file, chunk);
      hash.update(chunk);
      await written;
    }
    if (this.#isDurable) await file.datasync();
    return size;
  }

  async #publish(draft: string, sha256: string): Promise<void> {
    const path = this.path(sha256);
    try {
      await rename(draft, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await mkdir(dirname(path), { mode: 0o700, recursive: true });
      await rename(draft, path);
      if (this.#isDurable) await syncFolder(this.folder);
    }
    if (this.#isDurable) await syncFolder(dirname(path));
  }
}

/** Undefined also without permission: the file is useless then, and is brought again. */
function getSize(path: string): Bytes | undefined {
  try {
    return statSync(path).size;
  } catch {
    return undefined;
  }
}

/** Writes on from `offset`, hashing what is before it too. Answers how many bytes there are then. */
async function writeRest(
  path: string,
  source: AsyncIterable<Uint8Array>,
  {
    hash,
    offset,
    bytesMax,
    isDurable,
  }: { readonly hash: Hash; readonly offset: Bytes; readonly bytesMax: Bytes; readonly isDurable: boolean },
): Promise<Bytes> {
  await using file = await inFolder(dirname(path), () => open(path, constants.O_RDWR | constants.O_CREAT, 0o600));
  await file.truncate(offset);
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false, highWaterMark: 1024 * 1024 }))
    hash.update(chunk as Buffer);
  let size = offset;
  for await (const chunk of source) {
    if (size + chunk.length > bytesMax)
      throw new MutiraoError('MUT_CONTENT_TOO_LARGE', `content has more than ${bytesMax} bytes, the limit`);
    await writeAll(file, chunk, size);
    hash.update(chunk);
    size += chunk.length;
  }
  if (isDurable) await file.datasync();
  return size;
}

/** Makes the names in a folder outlive the machine. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r');
  await folder.sync();
}

function isUnlinkable(error: unknown): boolean {
  return ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP'].includes(String((error as NodeJS.ErrnoException).code));
}

/** A write may take less than it was given. */
async function writeAll(file: FileHandle, chunk: Uint8Array, position?: number): Promise<void> {
  for (let offset = 0; offset < chunk.length; ) {
    const { bytesWritten } = await file.write(
      chunk,
      offset,
      chunk.length - offset,
      position === undefined ? null : position + offset,
    );
    offset += bytesWritten;
  }
}

function isWrong(error: unknown): boolean {
  return (
    error instanceof MutiraoError && (error.code === 'MUT_CONTENT_MISMATCH' || error.code === 'MUT_CONTENT_TOO_LARGE')
  );
}

function verify(found: Content, wanted: Content | undefined): void {
  if (wanted === undefined || (wanted.sha256 === found.sha256 && wanted.size === found.size)) return;
  throw new MutiraoError(
    'MUT_CONTENT_MISMATCH',
    `content is ${found.sha256} of ${found.size} bytes; expected ${wanted.sha256} of ${wanted.size}`,
  );
}
