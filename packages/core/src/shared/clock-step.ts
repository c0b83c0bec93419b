import type { Duration, Instant } from './units.ts';

/**
 * The clock of this host was set: it now shows `by` more than it would have (less, if negative). Time that passed while
 * the host slept is not in it, except for machines whose work sleeps with the host. A driver puts it before all other
 * inputs of the first turn after the step.
 *
 * Instants that people and other hosts mean stay as they are. What a machine counts from or waits for by itself moves
 * along with the clock, so that a duration lasts as long as it was meant to.
 */
export interface ClockStepped {
  readonly kind: 'ClockStepped';
  readonly by: Duration;
}

/** An instant moved along with the clock; 0 and infinite ones, which stand for never, stay. */
export function movedBy(at: Instant, by: Duration): Instant {
  return at === 0 || !Number.isFinite(at) ? at : Math.max(1, at + by);
}

/** Moves the named instants of an object along with the clock; those that are absent stay so. */
export function moveInstants<Owner extends object>(owner: Owner, names: readonly (keyof Owner)[], by: Duration): void {
  for (const name of names) {
    const at = owner[name];
    if (typeof at === 'number') (owner as Record<keyof Owner, unknown>)[name] = movedBy(at, by);
  }
}
