import { MutiraoError } from '@mutirao/api/errors';

/** Reads the integer that an option was given. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function readInteger(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || value < min || value > max)
    throw new MutiraoError('MUT_BAD_REQUEST', `${name} is "${text}"; expected an integer in ${min}..${max}`);
  return value;
}
