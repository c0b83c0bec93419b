import type { Decision, Instant } from '@mutirao/core/shared';

/**
 * Hears of what a driver does, turn by turn, while the values are as they are: later turns may change them. Never
 * throws.
 */
export interface TurnTrace {
  /** A step is about to be run. */
  begin(turn: number, now: Instant, inputs: readonly unknown[]): void;
  /** It returned; nothing of its decision is journaled or performed yet. */
  conclude(turn: number, decision: Decision<unknown, unknown>): void;
  /** The driver ended: over an error, or because it was stopped. */
  end(error: unknown): void;
}
