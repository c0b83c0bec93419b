import type { Bytes } from '@mutirao/core/shared';

/** How far a file has been written, for those who read it while it grows. */
export class GrowingFile {
  readonly size: Bytes;
  #written: Bytes;
  #error: Error | undefined;
  #waiting: (() => void)[] = [];

  /** @param size when it is whole. @param written so far. */
  constructor(size: Bytes, written: Bytes) {
    this.size = size;
    this.#written = written;
  }

  /** Bytes from its beginning that can be read. */
  get written(): Bytes {
    return this.#written;
  }

  /** More bytes can be read. */
  grow(bytes: Bytes): void {
    this.#written += bytes;
    this.#wake();
  }

  /** It will not grow any more. */
  fail(error: Error): void {
    this.#error = error;
    this.#wake();
  }

  /** Resolves when more than `position` can be read, which is less than its size. Rejects when that will never be. */
  async past(position: Bytes): Promise<void> {
    while (this.#written <= position) {
      if (this.#error !== undefined) throw this.#error;
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
