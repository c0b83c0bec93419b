import { closeSync, writeSync } from 'node:fs';

const retryMs = 5;

/**
 * Writes lines to a FIFO that is open for writing without waiting: what it has no room for now goes out as its reader
 * makes room, in order.
 */
export class FifoLines {
  readonly #file: number;
  #rest: Buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;

  /** @param file a descriptor, which `close` closes. */
  constructor(file: number) {
    this.#file = file;
  }

  /** @throws Error of the file system; then nothing of the text was written. */
  write(text: string | Uint8Array): void {
    const bytes =
      typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    if (this.#timer === undefined) this.#flush();
  }

  close(): void {
    clearTimeout(this.#timer);
    closeSync(this.#file);
  }

  #flush(): void {
    this.#timer = undefined;
    while (this.#rest.length > 0) {
      const count = this.#take();
      if (count === 0) {
        this.#timer = setTimeout(() => {
          this.#flush();
        }, retryMs);
        return;
      }
      this.#rest = this.#rest.subarray(count);
    }
  }

  /** Bytes that there was room for. */
  #take(): number {
    try {
      return writeSync(this.#file, this.#rest);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
      this.#rest = Buffer.alloc(0);
      throw error;
    }
  }
}
