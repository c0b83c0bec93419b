import { MutiraoError } from '@mutirao/api/errors';
import type { Bytes, Duration } from '@mutirao/core/shared';

const failuresMax = 20;
const firstPause: Duration = 500;
const longestPause: Duration = 5_000;

/**
 * How often an output is pushed again, and after which pauses: as long as it takes a provider to come back.
 *
 * A provider without space says so until the broker is back: the output stays at its machine, which does not count as a
 * failure.
 */
export class PushAttempts {
  #failureCount = 0;
  #stored: Bytes = 0;

  /**
   * Notes a further attempt, with this many bytes stored at the other side: an attempt after which they have grown did
   * not fail.
   */
  noteStored(bytes: Bytes): void {
    if (bytes > this.#stored) this.#failureCount = 0;
    this.#stored = bytes;
  }

  /** The pause before the next attempt; undefined for no further attempt. */
  pauseAfter(error: unknown): Duration | undefined {
    if (error instanceof MutiraoError && error.code === 'MUT_SPOOL_FULL') return longestPause;
    this.#failureCount += 1;
    return this.#failureCount === failuresMax ? undefined : Math.min(longestPause, firstPause * this.#failureCount);
  }
}
