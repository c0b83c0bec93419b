import { MutiraoError } from '@mutirao/api/errors';
import type { Bytes } from '@mutirao/core/shared';

/** Before each message of gRPC: whether it is compressed, and its length. */
const prefixBytes = 5;

/**
 * Follows the messages of one call as their bytes come in, and refuses one that is too large by its prefix, before the
 * rest of it is there.
 */
export class MessageMeter {
  readonly #bytesMax: Bytes;
  readonly #prefix = Buffer.alloc(prefixBytes);
  #prefixLength = 0;
  #left: Bytes = 0;
  #declared: Bytes = 0;

  constructor(bytesMax: Bytes) {
    this.#bytesMax = bytesMax;
  }

  /** The length of the message that is coming, or came last; 0 before its prefix is there. */
  get declaredBytes(): Bytes {
    return this.#declared;
  }

  /** @throws {MutiraoError} MUT_BAD_REQUEST for a message that is too large or compressed. */
  take(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#left -= taken;
        at += taken;
      } else {
        at += this.#takePrefix(chunk, at);
      }
    }
  }

  #takePrefix(chunk: Buffer, at: number): number {
    const taken = chunk.copy(this.#prefix, this.#prefixLength, at, at + prefixBytes - this.#prefixLength);
    this.#prefixLength += taken;
    if (this.#prefixLength === prefixBytes) {
      this.#prefixLength = 0;
      if (this.#prefix[0] !== 0)
        throw new MutiraoError('MUT_BAD_REQUEST', 'the request is compressed; send it as it is');
      this.#declared = this.#prefix.readUInt32BE(1);
      if (this.#declared > this.#bytesMax)
        throw new MutiraoError(
          'MUT_BAD_REQUEST',
          `the request has a message of ${this.#declared} bytes; expected at most ${this.#bytesMax}`,
        );
      this.#left = this.#declared;
    }
    return taken;
  }
}
