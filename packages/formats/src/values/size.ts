import { findNearestWord, sizeUnits, type Bytes } from '@mutirao/core/shared';
import { FormatError, showFound } from '../format-error.ts';
import { parseWhole, valueError } from './number.ts';

const spelled = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'KB', 'MB', 'GB', 'TB'];

/**
 * Reads a size: `4096`, `2GiB`, `64K` (both by 1024), `1.5GB` (by 1000); bytes, rounded up. Letters count in any case.
 *
 * @throws {FormatError} MUT_BAD_SIZE.
 */
export function parseSize(text: string): Bytes {
  const context = { code: 'MUT_BAD_SIZE', kind: 'size', text };
  const match = /^([\d_]+)(\.\d+)?\s?(.*)$/.exec(text);
  if (match === null) throw valueError(context, 0, 'a number with a unit, as in 64K or 2GiB');
  const [, digits = '', decimals = '', unit = ''] = match;
  const factor = unit === '' ? 1 : sizeUnits.get(unit.toLowerCase());
  if (factor === undefined) {
    throw new FormatError({
      code: context.code,
      subject: `size ${JSON.stringify(text)}`,
      line: 0,
      column: text.length - unit.length + 1,
      found: showFound(unit),
      expected: `one of the units ${spelled.join(', ')}, or none`,
      nearest: findNearestWord(unit, spelled),
    });
  }
  const size = Math.ceil((parseWhole(context, 0, digits) + Number(`0${decimals}`)) * factor);
  if (!Number.isSafeInteger(size)) throw valueError(context, 0, `at most ${Number.MAX_SAFE_INTEGER} bytes`);
  return size;
}
