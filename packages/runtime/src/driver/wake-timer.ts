import type { Instant } from '@mutirao/core/shared';
import type { Clock } from './clock.ts';
import { delayMax, type Timers } from './timers.ts';

/** One alarm: setting it replaces the one before. */
export class WakeTimer {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #ring: () => void;
  #at: Instant | undefined;
  #timer: unknown;

  constructor(clock: Clock, timers: Timers, ring: () => void) {
    this.#clock = clock;
    this.#timers = timers;
    this.#ring = ring;
  }

  /** Rings once at `at` or soon after, never before; also years ahead. */
  set(at: Instant): void {
    if (at === this.#at) return;
    this.clear();
    this.#at = at;
    this.#arm(at);
  }

  /** Looks at the clock again, which has moved otherwise than the timers of this process. */
  arm(): void {
    if (this.#at === undefined) return;
    this.#timers.cancel(this.#timer);
    this.#arm(this.#at);
  }

  /** Forgets the alarm. */
  clear(): void {
    if (this.#at === undefined) return;
    this.#timers.cancel(this.#timer);
    this.#at = undefined;
  }

  #arm(at: Instant): void {
    const delay = Math.min(Math.max(at - this.#clock.now(), 0), delayMax);
    this.#timer = this.#timers.start(delay, () => {
      // A timer may fire a little early, and one that was clamped fires far too early.
      if (this.#clock.now() < at) {
        this.#arm(at);
        return;
      }
      this.#at = undefined;
      this.#ring();
    });
  }
}
