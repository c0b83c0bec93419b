import type { GetReason } from '../reasons/index.ts';
import { wholePpm } from './resource.ts';

/** What a capacity is an amount of. */
export type Dimension = 'count' | 'bytes' | 'bytes-per-second' | 'hertz';

/** The faults of an amount as text. */
type AmountFault = GetReason<
  'amount-unreadable' | 'amount-above-whole' | 'amount-unit-unknown' | 'amount-nothing' | 'amount-too-large'
>;

/** An amount that was parsed, or its fault. */
export type ParsedAmount = { readonly amount: number } | { readonly fault: AmountFault };

/** By dimension, the base units that a unit is; prefixes are decimal, but for those with an `i`. */
const units: Record<Dimension, ReadonlyMap<string, number>> = {
  count: new Map([['', 1]]),
  bytes: new Map(prefixed('B')),
  'bytes-per-second': new Map([
    ...prefixed('B/s'),
    ...prefixed('bit/s').map(([unit, size]): [string, number] => [unit, size / 8]),
  ]),
  hertz: new Map([
    ['Hz', 1],
    ['kHz', 1e3],
    ['MHz', 1e6],
    ['GHz', 1e9],
    ['THz', 1e12],
  ]),
};

function prefixed(unit: string): [string, number][] {
  const decimal = ['', 'K', 'M', 'G', 'T', 'P'].map((prefix, power): [string, number] => [
    prefix + unit,
    1000 ** power,
  ]);
  const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi'].map((prefix, power): [string, number] => [
    prefix + unit,
    1024 ** (power + 1),
  ]);
  return [...decimal, ...binary];
}

/**
 * Reads an amount: a share (`30%`), a number with a unit of the dimension (`400KB/s`, `1.5 GiB`), or a whole number of
 * base units.
 *
 * Parts of a base unit are rounded up, so that a user never gets less than the requested amount. `K` and `k` are both
 * 1000.
 * @param capacity what 100 % is, in base units.
 * @source kunrath2008, 2.1.5: a converter from units to shares for each type of resource.
 */
export function parseAmount(text: string, dimension: Dimension, capacity: number): ParsedAmount {
  const [, digits, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*(\S*)\s*$/.exec(text) ?? [];
  if (digits === undefined) return { fault: { code: 'amount-unreadable', text, dimension } };
  const value = Number(digits);
  if (unit === '%') {
    if (value > 100) return { fault: { code: 'amount-above-whole', text: text.trim() } };
    return checked(text, Math.ceil(roundedOff((capacity * value) / 100)));
  }
  const size = unit === '' ? 1 : findSize(unit, dimension);
  if (size === undefined) return { fault: { code: 'amount-unit-unknown', unit, dimension } };
  return checked(text, Math.ceil(roundedOff(value * size)));
}

/** Without the crumbs that binary fractions leave: 0.07 of 100 is 7, not 7.000000000000001. */
function roundedOff(value: number): number {
  const nearest = Math.round(value);
  return Math.abs(value - nearest) <= nearest * 1e-12 ? nearest : value;
}

function checked(text: string, amount: number): ParsedAmount {
  if (amount < 1) return { fault: { code: 'amount-nothing', text } };
  return Number.isSafeInteger(amount)
    ? { amount }
    : { fault: { code: 'amount-too-large', text, amountMax: Number.MAX_SAFE_INTEGER } };
}

function findSize(unit: string, dimension: Dimension): number | undefined {
  const known = units[dimension];
  return (
    known.get(unit) ??
    known.get(unit.replace(/^k/, 'K')) ??
    (dimension === 'hertz' ? known.get(unit.replace(/^K/, 'k')) : undefined)
  );
}

/** The units of a dimension; none of a count. */
export function listUnitNames(dimension: Dimension): string[] {
  return [...units[dimension].keys()].filter((name) => name !== '');
}

/** An amount as people read it: in the largest decimal unit that it has one of, to a tenth. */
export function describeAmount(amount: number, dimension: Dimension): string {
  let text = String(amount);
  for (const [unit, size] of units[dimension]) {
    if (/^[KMGTPk]?(B|Hz)/.test(unit) && amount >= size) text = `${Math.round((amount / size) * 10) / 10} ${unit}`;
  }
  return text;
}

/** Which share of a capacity an amount is, in parts per million, rounded down. */
export function getShare(amount: number, capacity: number): number {
  return Math.floor((amount / capacity) * wholePpm);
}
