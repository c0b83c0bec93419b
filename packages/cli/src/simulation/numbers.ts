import { MutiraoError } from '@mutirao/api/errors';
import { parseDuration } from '@mutirao/formats';
import type { Duration } from '@mutirao/core/shared';

/** Bounds of a number, both allowed. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/**
 * Reads a whole number of an option. @throws {MutiraoError} MUT_BAD_REQUEST with the value found and the value wanted.
 */
export function readWhole(option: string, text: string, { min, max }: Bounds): number {
  const value = /^\d+(_\d+)*$/.test(text) ? Number(text.replaceAll('_', '')) : NaN;
  if (value >= min && value <= max) return value;
  throw new MutiraoError('MUT_BAD_REQUEST', `${option} is "${text}"; expected a whole number in ${min}..${max}`);
}

/** Reads a number of an option. @throws {MutiraoError} as `readWhole`. */
export function readFraction(option: string, text: string, { min, max }: Bounds): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new MutiraoError('MUT_BAD_REQUEST', `${option} is "${text}"; expected a number in ${min}..${max}`);
}

/**
 * Reads a time of an option: a number of seconds, or a duration as 1h30m. @throws {MutiraoError | FormatError} as
 * `readWhole`; it is more than 0.
 */
export function readTime(option: string, text: string): Duration {
  const time = /^\d+(\.\d+)?$/.test(text) ? Math.round(Number(text) * 1000) : parseDuration(text);
  if (time > 0) return time;
  throw new MutiraoError('MUT_BAD_REQUEST', `${option} is "${text}"; expected more than 0 s`);
}

/** Reads one of a few words. @throws {MutiraoError} as `readWhole`. */
export function readWord<T extends string>(option: string, text: string, words: readonly T[]): T {
  const found = words.find((word) => word === text);
  if (found === undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', `${option} is "${text}"; expected one of ${words.join(', ')}`);
  return found;
}

/** Milliseconds as seconds, to the millisecond. */
export function findSeconds(time: Duration): number {
  return Math.round(time) / 1000;
}
