import { MutiraoError } from '@mutirao/api/errors';
import type { UserId } from '@mutirao/core/shared';

/** Half of the requests that an agent lets wait: no single user makes it answer before there is something to say. */
const tailsMax = 128;

/** Counts the tasks that each user follows. */
export class OpenTails {
  readonly #counts = new Map<UserId, number>();

  /** Counts one more. @returns what ends it, to be called once. @throws {MutiraoError} MUT_OVERLOADED */
  open(userId: UserId): () => void {
    const count = this.#counts.get(userId) ?? 0;
    if (count >= tailsMax)
      throw new MutiraoError('MUT_OVERLOADED', `you follow the output of ${count} tasks already; stop following one`);
    this.#counts.set(userId, count + 1);
    return () => {
      const left = (this.#counts.get(userId) ?? 0) - 1;
      if (left > 0) this.#counts.set(userId, left);
      else this.#counts.delete(userId);
    };
  }
}
