import { RepeatLimit, type RepeatRules } from '@mutirao/core/shared';
import { steadyClock, type Clock } from '../driver/clock.ts';
import type { Logger } from './logger.ts';

const usualRules: RepeatRules = { perKey: 5, total: 100, window: 60_000, keysMax: 50 };

/**
 * Warnings that others can cause as often as they like: the first ones of a kind are logged, the rest is counted and
 * reported once a minute.
 *
 * The number comes with the first line after the minute, so that no timer runs while nothing happens.
 */
export class RepeatedLines {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #limit: RepeatLimit;

  constructor(
    log: Logger,
    { clock = steadyClock, rules = usualRules }: { readonly clock?: Clock; readonly rules?: RepeatRules } = {},
  ) {
    this.#log = log;
    this.#clock = clock;
    this.#limit = new RepeatLimit(rules);
  }

  /** Logs a warning, or counts it. @param key what it is about: lines with one key are alike. */
  warn(key: string, fields: object, message: string): void {
    this.reportSkipped();
    if (this.#limit.admit(key)) this.#log.warn(fields, message);
  }

  /** Reports what was left out, if a minute is over. */
  reportSkipped(): void {
    for (const { key, count } of this.#limit.takeSkipped(this.#clock.now()))
      this.#log.warn({ about: key, count }, `${count} more in the last minute`);
  }
}
