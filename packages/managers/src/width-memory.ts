import type { Duration, Instant, ProcessorCount } from '@mutirao/core/shared';

/** How long a width counts as refused: administrators change limits, and nodes are repaired. */
const memory: Duration = 6 * 60 * 60_000;

/**
 * Remembers widths that a manager refused as such, although its listings promise them: of nodes whose hyper-threads,
 * memory or reserved cores do not go round, for
 * example. Half of what was refused is the most that may be asked for, down to one processor.
 */
export class WidthMemory {
  #refused: ProcessorCount = Infinity;
  #at: Instant = 0;
  #hasChanged = false;

  /** Whether a width was refused since `bound` was asked: the limits that were read are too wide. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** Notes a refusal. */
  refuse(width: ProcessorCount, at: Instant): void {
    this.#refused = Math.min(this.#isOver(at) ? Infinity : this.#refused, width);
    this.#at = at;
    this.#hasChanged = true;
  }

  /** The most to ask for, of what is promised. */
  bound(promised: ProcessorCount, now: Instant): ProcessorCount {
    this.#hasChanged = false;
    return this.#isOver(now) ? promised : Math.min(promised, Math.max(1, Math.floor(this.#refused / 2)));
  }

  /** Also where the clock was set back since by more than that: a host may begin with one that is years ahead. */
  #isOver(now: Instant): boolean {
    return Math.abs(now - this.#at) > memory;
  }
}
