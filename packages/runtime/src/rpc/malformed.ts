import { MutiraoError } from '@mutirao/api/errors';
import { describeError } from '@mutirao/core/shared';

/**
 * Stands for a message whose bytes made no sense, so that its stream can be closed with our own code and one log line.
 */
export class Malformed {
  readonly error: MutiraoError;

  constructor(cause: unknown) {
    this.error = new MutiraoError('MUT_PROTOCOL', `malformed message: ${describeError(cause)}`, { cause });
  }
}

/** A deserializer that answers bad bytes with `Malformed` and never throws. */
export function tolerant<T>(deserialize: (bytes: Buffer) => T): (bytes: Buffer) => T | Malformed {
  return (bytes) => {
    try {
      return deserialize(bytes);
    } catch (error) {
      return new Malformed(error);
    }
  };
}
