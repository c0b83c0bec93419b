import type { Duration } from '@mutirao/core/shared';

/** How long to wait before trying again. */
export interface BackoffRules {
  readonly first: Duration;
  readonly longest: Duration;
  /** A number in [0, 1). */
  random(): number;
}

/**
 * Waits that double from one failure to the next, each shortened by up to a half so that waiting callers do not all
 * come together.
 */
export class Backoff {
  readonly #rules: BackoffRules;
  #failureCount = 0;

  constructor(rules: BackoffRules) {
    this.#rules = rules;
  }

  /** The wait after one more failure. */
  next(): Duration {
    const { first, longest, random } = this.#rules;
    const whole = Math.min(longest, first * 2 ** Math.min(this.#failureCount, 30));
    this.#failureCount += 1;
    return Math.ceil(whole * (1 - random() / 2));
  }

  /** It went well: the next failure is a first one. */
  reset(): void {
    this.#failureCount = 0;
  }
}
