import type { ProviderQueue } from '@mutirao/api/provider';
import type { Duration, Instant, ProviderId } from '@mutirao/core/shared';

/** How long a provider's answer is used for further requests. */
const freshFor: Duration = 2000;
/** Answers of providers that nobody asks for any more are dropped. */
const keptMax = 1000;

interface Kept {
  readonly at: Instant;
  readonly queue: Promise<ProviderQueue>;
}

/** The queues of providers as they report them, read at most once in a while however often they are requested. */
export class ProviderQueues {
  readonly #kept = new Map<ProviderId, Kept>();
  readonly #ask: (providerId: ProviderId) => Promise<ProviderQueue>;
  readonly #clock: { now(): Instant };

  constructor(ask: (providerId: ProviderId) => Promise<ProviderQueue>, clock: { now(): Instant }) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /** The last report of a provider, and its age. Rejects as the provider does; a rejection is not kept. */
  async get(providerId: ProviderId): Promise<{ readonly queue: ProviderQueue; readonly age: Duration }> {
    const now = this.#clock.now();
    const kept = this.#kept.get(providerId);
    // Of a clock that was set back nobody knows how long ago it was.
    const isFresh = kept !== undefined && now >= kept.at && now < kept.at + freshFor;
    const { at, queue } = isFresh ? kept : this.#fetch(providerId, now);
    return { queue: await queue, age: Math.max(0, this.#clock.now() - at) };
  }

  #fetch(providerId: ProviderId, at: Instant): Kept {
    const fetched: Kept = { at, queue: this.#ask(providerId) };
    this.#kept.delete(providerId);
    this.#kept.set(providerId, fetched);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptMax && oldest !== undefined) this.#kept.delete(oldest);
    fetched.queue.catch(() => {
      if (this.#kept.get(providerId) === fetched) this.#kept.delete(providerId);
    });
    return fetched;
  }
}
