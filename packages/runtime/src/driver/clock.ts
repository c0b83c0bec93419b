import type { Instant } from '@mutirao/core/shared';

/** Where a driver takes its time from. Never goes back. */
export interface Clock {
  now(): Instant;
}

/**
 * The monotonic clock of this process, mapped to the epoch once, when the process starts.
 *
 * A step of the wall clock does not move it, so that times within one process never contradict each other.
 */
export const systemClock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()),
};
