/** Lets a bounded number of works go on at a time; the others wait in their order. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #places: number;

  constructor(places: number) {
    this.#places = places;
  }

  /** Does `work` when it has a place. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#places > 0) this.#places -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#places += 1;
      else next();
    }
  }
}
