import type { JobId } from '@mutirao/core/shared';

/**
 * Wakes those who wait for something to happen to a job, or to any. Knows nothing of what happened: they look for
 * themselves.
 */
export class JobWatchers {
  readonly #waiting = new Map<JobId, Set<() => void>>();

  /** How many wait. */
  get count(): number {
    let count = 0;
    for (const waiters of this.#waiting.values()) count += waiters.size;
    return count;
  }

  /** Something happened to a job, or (0) to what jobs run on. Cost: those who wait for it. */
  notify(jobId: JobId): void {
    this.#wake(jobId);
    this.#wake(0);
  }

  /** Resolves at the next notice of a job (0: of any), or when one of `signals` is aborted. */
  async next(jobId: JobId, signals: readonly AbortSignal[]): Promise<void> {
    if (signals.some((signal) => signal.aborted)) return;
    const waiters = this.#waiting.get(jobId) ?? new Set();
    this.#waiting.set(jobId, waiters);
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => {
      resolve();
    };
    waiters.add(wake);
    for (const signal of signals) signal.addEventListener('abort', wake);
    await promise;
    for (const signal of signals) signal.removeEventListener('abort', wake);
    waiters.delete(wake);
    if (waiters.size === 0 && this.#waiting.get(jobId) === waiters) this.#waiting.delete(jobId);
  }

  #wake(jobId: JobId): void {
    const waiters = this.#waiting.get(jobId);
    if (waiters === undefined) return;
    this.#waiting.delete(jobId);
    for (const wake of waiters) wake();
  }
}
