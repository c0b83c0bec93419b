import type { Duration, Instant } from './units.ts';

/** How many lines of one kind may be written. */
export interface RepeatRules {
  /** Lines with one key within a window. */
  readonly perKey: number;
  /** Lines of all keys together within a window. */
  readonly total: number;
  readonly window: Duration;
  /** Keys that are remembered; those beyond it share one entry. */
  readonly keysMax: number;
}

/** Lines that were left out. */
export interface SkippedLines {
  readonly key: string;
  readonly count: number;
}

/** The key that stands for all that are not remembered. */
export const otherKeys = '(others)';

interface Tally {
  written: number;
  skipped: number;
}

/**
 * Decides which of many similar lines are written, so that a client that causes them cannot fill a disk.
 *
 * The first lines of each key are written, the rest of its window is counted. Memory is bounded by `keysMax`.
 */
export class RepeatLimit {
  readonly #rules: RepeatRules;
  #tallies = new Map<string, Tally>();
  #writtenCount = 0;
  #windowEnd: Instant = -Infinity;

  constructor(rules: RepeatRules) {
    this.#rules = rules;
  }

  /**
   * Whether to write a line with this key now; a refused line is counted. Call `takeSkipped` first: it begins a new
   * window when the old one is over.
   */
  admit(key: string): boolean {
    const { perKey, total } = this.#rules;
    const tally = this.#tallyOf(key);
    if (tally.written >= perKey || this.#writtenCount >= total) {
      tally.skipped += 1;
      return false;
    }
    tally.written += 1;
    this.#writtenCount += 1;
    return true;
  }

  /** What was left out in the window before this instant, once that window is over; empty before. */
  takeSkipped(now: Instant): readonly SkippedLines[] {
    if (now < this.#windowEnd) return [];
    const skipped = [...this.#tallies]
      .filter(([, tally]) => tally.skipped > 0)
      .map(([key, tally]) => ({ key, count: tally.skipped }));
    this.#tallies = new Map();
    this.#writtenCount = 0;
    this.#windowEnd = now + this.#rules.window;
    return skipped;
  }

  #tallyOf(key: string): Tally {
    const known = this.#tallies.get(key);
    if (known !== undefined) return known;
    if (this.#tallies.size >= this.#rules.keysMax && key !== otherKeys) return this.#tallyOf(otherKeys);
    const tally: Tally = { written: 0, skipped: 0 };
    this.#tallies.set(key, tally);
    return tally;
  }
}
