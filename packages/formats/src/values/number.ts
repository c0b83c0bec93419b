import { FormatError, showFound } from '../format-error.ts';

/** What a value is read as, for its errors. */
export interface ValueContext {
  readonly code: string;
  /** `duration`, `size`, ... */
  readonly kind: string;
  /** The whole value. */
  readonly text: string;
}

/** Makes the error for a value that is wrong at `offset`, counted from 0. */
export function valueError(context: ValueContext, offset: number, expected: string): FormatError {
  return new FormatError({
    code: context.code,
    subject: `${context.kind} ${JSON.stringify(context.text)}`,
    line: 0,
    column: offset + 1,
    found: showFound(context.text.slice(offset)),
    expected,
  });
}

/**
 * Reads digits, which may be grouped with underscores: `1_000_000`.
 *
 * @throws {FormatError} when it is not a whole number or beyond 2^53 - 1.
 */
export function parseWhole(context: ValueContext, offset: number, digits: string): number {
  if (!/^\d+(_\d+)*$/.test(digits)) throw valueError(context, offset, 'a whole number');
  const value = Number(digits.replaceAll('_', ''));
  if (!Number.isSafeInteger(value)) throw valueError(context, offset, `a number up to ${Number.MAX_SAFE_INTEGER}`);
  return value;
}
