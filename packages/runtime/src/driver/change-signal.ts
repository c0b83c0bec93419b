/** Wakes those who wait for something to change. */
export class ChangeSignal {
  #count = 0;
  #waiting = new Set<() => void>();

  /** Grows with each change. */
  get count(): number {
    return this.#count;
  }

  /** Wakes everyone that waits for a change. */
  notify(): void {
    this.#count += 1;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  /** Resolves when the count is no longer `seen`, or `signal` is aborted. */
  changed(seen: number, signal: AbortSignal): Promise<void> {
    if (this.#count !== seen || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
