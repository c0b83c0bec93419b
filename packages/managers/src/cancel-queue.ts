import { MutiraoError } from '@mutirao/api/errors';

/** What cancels jobs: resolves to why each of those that could not be cancelled was not. */
export type CancelJobs = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

interface Waiting {
  readonly id: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Most jobs that one call cancels. */
const chunkMax = 100;

/** Cancels jobs in chunks, one call at a time: what is asked for while a call is under way goes with the next. */
export class CancelQueue {
  readonly #cancel: CancelJobs;
  #waiting: Waiting[] = [];
  #isBusy = false;

  constructor(cancel: CancelJobs) {
    this.#cancel = cancel;
  }

  /** Resolves when the job is cancelled. @throws {MutiraoError} MUT_UNREACHABLE when it is not, as far as is known. */
  cancel(id: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, resolve, reject });
      // Not at once: those that are asked for in the same turn go together.
      if (!this.#isBusy) {
        this.#isBusy = true;
        queueMicrotask(() => {
          void this.#work();
        });
      }
    });
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const chunk = this.#waiting.slice(0, chunkMax);
      this.#waiting = this.#waiting.slice(chunkMax);
      await this.#cancelChunk(chunk);
    }
    this.#isBusy = false;
  }

  async #cancelChunk(chunk: readonly Waiting[]): Promise<void> {
    try {
      const failures = await this.#cancel([...new Set(chunk.map(({ id }) => id))]);
      for (const { id, resolve, reject } of chunk) {
        const failure = failures.get(id);
        if (failure === undefined) resolve();
        else reject(new MutiraoError('MUT_UNREACHABLE', failure));
      }
    } catch (error) {
      for (const { reject } of chunk) reject(error);
    }
  }
}
