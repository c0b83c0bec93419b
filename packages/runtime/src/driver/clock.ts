import type { Instant } from '@mutirao/core/shared';

/** Where a driver takes its time from; then it never goes back. */
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

/**
 * The wall clock of this host, for ages of files, which were given their times by it. It may go back.
 *
 * The monotonic clock stands still while a laptop sleeps.
 */
export const wallClock: Clock = {
  now: () => Date.now(),
};
