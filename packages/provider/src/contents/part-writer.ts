import { createHash, type Hash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { chunkData } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { PullContentResponse } from '@mutirao/api/machine';
import type { Content } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import { fileError } from '@mutirao/runtime/files';
import type { StreamWriter } from '@mutirao/runtime/rpc';
import { GrowingFile } from './growing-file.ts';

/** Number of the data field in PullContentResponse. */
const dataField = 1;
/** Bytes that may wait for the disk. */
const waitingBytesMax: Bytes = 2 * 1024 * 1024;
const chunkBytes = 512 * 1024;

/** The taking side of a transfer that writes a content to a file, after what an earlier transfer left there. */
export class PartWriter implements StreamWriter<Buffer> {
  onDrain: (() => void) | undefined;
  /** For those who read the file meanwhile. */
  readonly progress: GrowingFile;
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #content: Content;
  readonly #hash: Hash;
  #position: Bytes;
  #writing: Promise<void> = Promise.resolve();
  #waitingBytes: Bytes = 0;
  #error: unknown;

  /** Use `open`. */
  private constructor(
    path: string,
    file: FileHandle,
    content: Content,
    { hash, position }: { readonly hash: Hash; readonly position: Bytes },
  ) {
    this.#path = path;
    this.#file = file;
    this.#content = content;
    this.#hash = hash;
    this.#position = position;
    this.progress = new GrowingFile(content.size, position);
  }

  /**
   * Opens a file, created if it is absent, to write from `offset`: keeps the bytes before it and drops the rest.
   *
   * @throws {MutiraoError} MUT_CONTENT_MISMATCH when it has fewer bytes than that; MUT_DISK_FULL; Error of the file
   * system.
   */
  static async open(path: string, content: Content, offset: Bytes): Promise<PartWriter> {
    const file = await open(path, offset > 0 ? 'r+' : 'w+', 0o600).catch((error: unknown) => {
      throw fileError(error, path);
    });
    try {
      const hash = createHash('sha256');
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(1, offset)));
      for (let position = 0; position < offset; ) {
        const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, offset - position), position);
        if (bytesRead === 0)
          throw new MutiraoError(
            'MUT_CONTENT_MISMATCH',
            `${path} has ${position} bytes; expected ${offset} to go on from`,
          );
        hash.update(chunk.subarray(0, bytesRead));
        position += bytesRead;
      }
      await file.truncate(offset);
      return new PartWriter(path, file, content, { hash, position: offset });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  write(message: Buffer): boolean {
    return this.writeBytes(chunkData(message, dataField, PullContentResponse));
  }

  /** Takes bytes of the content; as `write`. */
  writeBytes(data: Uint8Array): boolean {
    if (this.#error !== undefined) return true;
    if (this.#position + data.length > this.#content.size) {
      this.#error = new MutiraoError(
        'MUT_CONTENT_MISMATCH',
        `content ${this.#content.sha256} has more than ${this.#content.size} bytes`,
      );
      return true;
    }
    const at = this.#position;
    this.#position += data.length;
    this.#waitingBytes += data.length;
    const written = writeAll(this.#file, data, at);
    this.#hash.update(data);
    this.#writing = Promise.all([this.#writing, written]).then(() => {
      this.#waitingBytes -= data.length;
      this.progress.grow(data.length);
    });
    this.#writing.catch((error: unknown) => {
      this.#error ??= fileError(error, this.#path);
    });
    return this.#waitingBytes < waitingBytesMax;
  }

  end(): void {
    // The one who opened it finishes it.
  }

  async drained(): Promise<void> {
    if (this.#waitingBytes >= waitingBytesMax) await this.#writing.catch(() => undefined);
    if (this.#error !== undefined) throw this.#error;
  }

  /**
   * All came; resolves when it is written and is what it should be. @throws {MutiraoError} MUT_CONTENT_MISMATCH,
   * MUT_DISK_FULL
   */
  async finish(): Promise<void> {
    await this.#writing.catch(() => undefined);
    if (this.#error !== undefined) throw this.#error;
    const found = this.#hash.digest('hex');
    const { sha256, size } = this.#content;
    if (this.#position !== size || found !== sha256) {
      throw new MutiraoError(
        'MUT_CONTENT_MISMATCH',
        `content is ${found} of ${this.#position} bytes; expected ${sha256} of ${size}`,
      );
    }
  }

  /** Closes the file, once all that was begun is written or has failed. */
  async close(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await this.#file.close();
  }
}

async function writeAll(file: FileHandle, data: Uint8Array, position: Bytes): Promise<void> {
  for (let done = 0; done < data.length; ) {
    const { bytesWritten } = await file.write(data, done, data.length - done, position + done);
    done += bytesWritten;
  }
}
