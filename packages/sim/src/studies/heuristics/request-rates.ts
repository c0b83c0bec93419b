import type { Instant } from '@mutirao/core/shared';

const hour = 3_600_000;

/**
 * The most that ever happens within one hour, both of its ends counted as in it only once. @param instants in order.
 * Cost: linear.
 */
export function mostInAnHour(instants: readonly Instant[]): number {
  let most = 0;
  let first = 0;
  instants.forEach((now, index) => {
    while ((instants[first] as Instant) <= now - hour) first += 1;
    most = Math.max(most, index - first + 1);
  });
  return most;
}
