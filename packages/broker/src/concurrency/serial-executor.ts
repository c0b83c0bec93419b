/**
 * Keeps works of one name in their order, although some of them wait for a disk.
 *
 * A work that waits for nothing, in a lane where nothing waits, is done at once: the common case makes no promise.
 */
export class SerialExecutor<Name> {
  readonly #tails = new Map<Name, Promise<void>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** How many serialExecutor have works that are not done. */
  get busyCount(): number {
    return this.#tails.size;
  }

  /** Does `work` after all works that were given under this name before. */
  run(name: Name, work: () => Promise<void> | undefined): void {
    const tail = this.#tails.get(name);
    if (tail !== undefined) {
      this.#follow(name, tail.then(work));
      return;
    }
    try {
      const promise = work();
      if (promise !== undefined) this.#follow(name, promise);
    } catch (error) {
      this.#onError(error);
    }
  }

  /** Resolves when all works that were given until now are done; undefined when they are. */
  whenDone(): Promise<void> | undefined {
    if (this.#tails.size === 0) return undefined;
    return Promise.all(this.#tails.values()).then(() => undefined);
  }

  #follow(name: Name, promise: Promise<void>): void {
    const tail: Promise<void> = promise.catch(this.#onError).then(() => {
      if (this.#tails.get(name) === tail) this.#tails.delete(name);
    });
    this.#tails.set(name, tail);
  }
}
