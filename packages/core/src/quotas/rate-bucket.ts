import type { Duration, Instant } from '../shared/index.ts';

/**
 * Allows a number of events per second on average over a span of time, so that a short burst passes.
 *
 * A token bucket: it is full at first, and holds what `span` brings.
 */
export class RateBucket {
  readonly #span: Duration;
  #tokens: number | undefined;
  #at: Instant = 0;

  /** @param span over which the rate is an average. */
  constructor(span: Duration) {
    this.#span = span;
  }

  /** Whether an event may happen now; one that may is counted. @param perSecond the rate that is allowed now. */
  take(perSecond: number, now: Instant): boolean {
    if (perSecond === Infinity) return true;
    const full = (perSecond * this.#span) / 1000;
    const refilled =
      this.#tokens === undefined ? full : this.#tokens + (Math.max(0, now - this.#at) * perSecond) / 1000;
    // A clock that was set back brings nothing once, and goes on from there.
    this.#at = now;
    this.#tokens = Math.min(full, refilled);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
