import { Session } from 'node:inspector/promises';

/** Which parts of our sources have run. */
export class Coverage {
  readonly #session = new Session();
  readonly #seen = new Set<string>();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Parts that have run since the last call of this or of `hasRun`, and never before. */
  async takeNew(): Promise<ReadonlySet<string>> {
    const fresh = new Set<string>();
    for (const part of await this.#take()) if (!this.#seen.has(part)) fresh.add(part);
    for (const part of fresh) this.#seen.add(part);
    return fresh;
  }

  /** Whether any of these parts has run since the last call of this or of `takeNew`. */
  async hasRun(parts: ReadonlySet<string>): Promise<boolean> {
    return (await this.#take()).some((part) => parts.has(part));
  }

  async #take(): Promise<string[]> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const ours = result.filter(({ url }) => url.includes('/packages/'));
    return ours.flatMap(({ url, functions }) =>
      functions.flatMap(({ ranges }) =>
        ranges
          .filter(({ count }) => count > 0)
          .map(({ startOffset, endOffset }) => `${url}:${startOffset}:${endOffset}`),
      ),
    );
  }

  get size(): number {
    return this.#seen.size;
  }
}
