import type { Duration } from '@mutirao/core/shared';
import { parseWhole, valueError, type ValueContext } from './number.ts';

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

/**
 * Reads a duration: `90s`, `1h30m`, `1.5h`, `250ms`, `2d`, or `HH:MM:SS`; milliseconds, rounded up.
 *
 * @throws {FormatError} MUT_BAD_DURATION.
 */
export function parseDuration(text: string): Duration {
  const context = { code: 'MUT_BAD_DURATION', kind: 'duration', text };
  if (text === '0') return 0;
  const duration = text.includes(':') ? parseClock(context) : parseUnits(context);
  if (!Number.isSafeInteger(duration)) throw valueError(context, 0, 'a shorter duration');
  return duration;
}

/** Writes a duration as `parseDuration` reads it: `1h30m`. */
export function printDuration(duration: Duration): string {
  let rest = duration;
  let printed = '';
  for (const [name, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) printed += `${count}${name}`;
  }
  return printed === '' ? '0s' : printed;
}

function parseClock(context: ValueContext): Duration {
  const match = /^(\d+):(\d\d):(\d\d)$/.exec(context.text);
  if (match === null) throw valueError(context, 0, 'HH:MM:SS');
  const [, hours = '', minutes = '', seconds = ''] = match;
  if (Number(minutes) > 59) throw valueError(context, hours.length + 1, 'minutes from 00 to 59');
  if (Number(seconds) > 59) throw valueError(context, hours.length + 4, 'seconds from 00 to 59');
  return (parseWhole(context, 0, hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
}

function parseUnits(context: ValueContext): Duration {
  const { text } = context;
  const part = /([\d_]+)(\.\d+)?([a-z]*)/iy;
  let total = 0;
  let unitsLeft: readonly (readonly [string, number])[] = units;
  let offset = 0;
  do {
    part.lastIndex = offset;
    const match = part.exec(text);
    if (match === null) throw valueError(context, offset, 'a number with a unit, as in 90s or 1h30m');
    const [whole, digits = '', decimals = '', unit = ''] = match;
    const position = unitsLeft.findIndex(([name]) => name === unit.toLowerCase());
    if (position === -1) throw valueError(context, offset + whole.length - unit.length, expectedUnit(unitsLeft));
    total += Math.ceil(
      (parseWhole(context, offset, digits) + Number(`0${decimals}`)) * (unitsLeft[position]?.[1] ?? 0),
    );
    unitsLeft = unitsLeft.slice(position + 1);
    offset += whole.length;
  } while (offset < text.length);
  return total;
}

function expectedUnit(left: readonly (readonly [string, number])[]): string {
  if (left.length === 0) return 'the end';
  return left.length === 1 ? 'the unit ms' : `one of the units ${left.map(([name]) => name).join(', ')}`;
}
