import type { Duration, Instant } from '@mutirao/core/shared';

/**
 * Reads a walltime as Slurm writes it: `MM:SS`, `HH:MM:SS`, `D-HH:MM:SS`, or a bare number of minutes.
 *
 * @returns undefined for `UNLIMITED`, `NOT_SET` and the like, and for any other text.
 */
export function parseWalltime(text: string): Duration | undefined {
  const match = /^(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$/.exec(text);
  if (match === null) return undefined;
  const [, days, first = '0', second, third] = match;
  const parts = [first, second, third].filter((part) => part !== undefined).map(Number);
  const [hours = 0, minutes = 0, seconds = 0] = days === undefined ? withoutDays(parts) : parts;
  const total = ((Number(days ?? 0) * 24 + hours) * 60 + minutes) * 60 + seconds;
  return Number.isSafeInteger(total * 1000) ? total * 1000 : undefined;
}

/** Two parts are minutes and seconds; one is minutes. */
function withoutDays(parts: readonly number[]): readonly number[] {
  return parts.length === 3 ? parts : [0, ...parts];
}

/** Reads an instant that a command wrote under `TZ=UTC`; 0 for `N/A`, `Unknown` and the like. */
export function parseInstant(text: string): Instant {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text) ? Date.parse(`${text}Z`) || 0 : 0;
}
