import { InvariantError } from '@mutirao/core/shared';

/** The word for a value of a wire enum, in lower case; a value that this release does not know is `unknown-N`. */
export function getEnumName(values: Readonly<Record<string, number>>, value: number): string {
  for (const [name, known] of Object.entries(values)) if (known === value) return value === 0 ? '' : name.toLowerCase();
  return `unknown-${value}`;
}

/**
 * The value of a wire enum that a word stands for. @throws {InvariantError} when there is none; the caller has checked
 * the word.
 */
export function getValue<V extends number>(values: Readonly<Record<string, V>>, name: string): V {
  const value = values[name.toUpperCase()];
  if (value === undefined) throw new InvariantError(`no enum value is named ${name}`);
  return value;
}
