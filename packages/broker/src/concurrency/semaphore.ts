interface Waiting {
  readonly name: string | undefined;
  start(): void;
}

/**
 * Lets a bounded number of works go on at a time; the others wait in their order. Works of one name leave a place to
 * the others, where there is more than one.
 */
export class Semaphore {
  readonly #waiting: Waiting[] = [];
  readonly #running = new Map<string, number>();
  readonly #namedMax: number;
  #places: number;

  constructor(places: number) {
    this.#places = places;
    this.#namedMax = Math.max(1, places - 1);
  }

  /** Does `work` when it has a place. @param name whose it is, say a machine's; left out, it counts for nobody. */
  async run<T>(work: () => Promise<T>, name?: string): Promise<T> {
    if (this.#places > 0 && this.#mayStart(name)) this.#take(name);
    else await new Promise<void>((start) => this.#waiting.push({ name, start }));
    try {
      return await work();
    } finally {
      this.#leave(name);
    }
  }

  #mayStart(name: string | undefined): boolean {
    return name === undefined || (this.#running.get(name) ?? 0) < this.#namedMax;
  }

  #take(name: string | undefined): void {
    this.#places -= 1;
    if (name !== undefined) this.#running.set(name, (this.#running.get(name) ?? 0) + 1);
  }

  #leave(name: string | undefined): void {
    this.#places += 1;
    if (name !== undefined) {
      const left = (this.#running.get(name) ?? 1) - 1;
      if (left > 0) this.#running.set(name, left);
      else this.#running.delete(name);
    }
    const index = this.#waiting.findIndex((one) => this.#mayStart(one.name));
    const [next] = index === -1 ? [] : this.#waiting.splice(index, 1);
    if (next === undefined) return;
    this.#take(next.name);
    next.start();
  }
}
