import type { Decision, Instant } from '@mutirao/core/shared';

/**
 * Receives what a driver does, turn by turn. Later turns may change the values, so they must be read at once. Never
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
