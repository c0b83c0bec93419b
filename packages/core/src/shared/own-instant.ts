import type { Duration, Instant } from './units.ts';

/** Clocks that differ by no more are taken to show the same: messages take a moment, too. */
export const clockTolerance: Duration = 2_000;

/**
 * An instant that another clock showed, by our own. @param offset how far the other clock is ahead; 0 stays 0, which
 * stands for never.
 */
export function ownInstant(reported: Instant, offset: Duration): Instant {
  return reported === 0 || Math.abs(offset) <= clockTolerance ? reported : Math.max(1, reported - offset);
}
