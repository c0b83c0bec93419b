import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

import type { Bytes } from '@mutirao/core/shared';

const bufferedMax: Bytes = 4 * 1024 * 1024;
const chunkBytes: Bytes = 1024 * 1024;

/** Writes on from a place in a file, small pieces together. */
export class VolumeWriter implements AsyncDisposable {
  readonly #file: FileHandle;
  #written: Bytes;
  #pieces: Uint8Array[] = [];
  #pending: Bytes = 0;

  private constructor(file: FileHandle, from: Bytes) {
    this.#file = file;
    this.#written = from;
  }

  /** Opens a file, created if it is missing, and cuts off its bytes from `from` on. */
  static async openAt(path: string, from: Bytes): Promise<VolumeWriter> {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o666);
    try {
      await file.truncate(from);
      return new VolumeWriter(file, from);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Where the next byte goes. */
  get position(): Bytes {
    return this.#written + this.#pending;
  }

  /** The bytes are not changed before `flush`. */
  async add(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#pending += bytes.length;
    if (this.#pending >= bufferedMax) await this.flush();
  }

  /** Adds the first `size` bytes of a file. @throws if it holds fewer. */
  async addFile(path: string, size: Bytes): Promise<void> {
    await using source = await open(path, 'r');
    for (let done = 0; done < size; ) {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size - done));
      const { bytesRead } = await source.read(chunk, 0, chunk.length, done);
      if (bytesRead === 0) throw new Error(`${path} ends after ${done} bytes; expected ${size}`);
      done += bytesRead;
      await this.add(chunk.subarray(0, bytesRead));
    }
  }

  /** All that was added is in the file. */
  async flush(): Promise<void> {
    for (let pieces = this.#pieces; pieces.length > 0; ) {
      const { bytesWritten } = await this.#file.writev(pieces, this.#written);
      this.#written += bytesWritten;
      this.#pending -= bytesWritten;
      pieces = without(pieces, bytesWritten);
      this.#pieces = pieces;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

/** The rest of pieces of which this many bytes are written: a full disk takes a part. */
function without(pieces: readonly Uint8Array[], bytes: Bytes): Uint8Array[] {
  let left = bytes;
  const rest: Uint8Array[] = [];
  for (const piece of pieces) {
    if (left >= piece.length) left -= piece.length;
    else {
      rest.push(left === 0 ? piece : piece.subarray(left));
      left = 0;
    }
  }
  return rest;
}
