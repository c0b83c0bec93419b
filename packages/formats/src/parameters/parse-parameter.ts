import { FormatError, showFound } from '../format-error.ts';
import { readTable } from './read-table.ts';

/** A parameter of a sweep and its values, in order. */
export interface Parameter {
  readonly name: string;
  readonly values: ParameterValues;
  /** The values as the user wrote them, for labels. */
  readonly text: string;
}

/** Whole numbers stay three numbers, however many they are. */
export type ParameterValues =
  | readonly string[]
  | { readonly first: number; readonly count: number; readonly step: number };

/** Values that a list may have. */
export const parameterValuesMax = 1_000_000;

const nameShape = /^[\p{L}\p{N}_][\p{L}\p{N}_ .:-]{0,63}$/u;

/** What is wrong with the name of a parameter; undefined where nothing is. */
export function findNameProblem(name: string): string | undefined {
  return nameShape.test(name) && name.trim() === name
    ? undefined
    : 'a name of up to 64 letters, digits, spaces, "_", ".", ":" and "-" that begins with a letter, a digit or "_"';
}

/**
 * Reads `--param`: `a=1..10`, `a=0..1..0.25`, `b=x,y`, `c="x,y",z`. A range is counted in steps of 1 (or of -1, where
 * it falls) unless a step is given, and numbers written with zeros before them keep their width: `01..10`.
 *
 * @throws {FormatError} MUT_BAD_REQUEST.
 */
export function parseParameter(text: string): Parameter {
  const equals = text.indexOf('=');
  const name = equals === -1 ? text : text.slice(0, equals);
  const fail: Fail = (found, expected, column = equals + 2) => parameterError(text, { column, found, expected });
  if (equals === -1) throw fail(showFound(text), 'NAME=VALUES, as in a=1..10 or b=x,y', 1);
  const problem = findNameProblem(name);
  if (problem !== undefined) throw fail(showFound(name), problem, 1);
  const written = text.slice(equals + 1);
  const cells = readCells(name, written, fail);
  const items = cells.map((cell) => expandItem(cell, fail));
  const [only] = items;
  if (items.length === 1 && only !== undefined && 'count' in only) return { name, values: only, text: written };
  const count = items.reduce((sum, item) => sum + countValues(item), 0);
  if (count > parameterValuesMax)
    throw fail(`${count} values`, `at most ${parameterValuesMax}, or a single range of whole numbers`);
  return { name, values: items.flatMap((item) => [...listValues(item)]), text: written };
}

function readCells(name: string, written: string, fail: Fail): readonly string[] {
  if (written === '') throw fail('no value', 'values, as in 1..10 or x,y');
  if (written.includes('\0')) throw fail('a NUL', 'text');
  const [row, ...others] = readTable(written, { subject: `parameter "${name}"`, separator: ',' });
  if (others.length > 0) throw fail('several lines', 'values on one line; quote a value that has a line end');
  return row?.cells ?? [''];
}

function parameterError(
  text: string,
  place: { readonly column: number; readonly found: string; readonly expected: string },
): FormatError {
  return new FormatError({
    code: 'MUT_BAD_REQUEST',
    subject: `parameter ${JSON.stringify(text.slice(0, 60))}`,
    line: 0,
    ...place,
  });
}

/** How many values there are. */
export function countValues(values: ParameterValues): number {
  return 'count' in values ? values.count : values.length;
}

/** All values, in order. */
export function* listValues(values: ParameterValues): Generator<string> {
  if (!('count' in values)) yield* values;
  else for (let index = 0; index < values.count; index++) yield String(values.first + index * values.step);
}

/** The value at a position below the number of values. */
export function getValue(values: ParameterValues, position: number): string {
  return 'count' in values ? String(values.first + position * values.step) : (values[position] ?? '');
}

type Fail = (found: string, expected: string, column?: number) => FormatError;

const number = String.raw`[+-]?\d+(?:\.\d+)?`;
const rangeShape = new RegExp(`^(${number})\\.\\.(${number})(?:\\.\\.(${number}))?$`);

/** The values of a range, or the text itself if it is not a range. */
function expandItem(item: string, fail: Fail): ParameterValues {
  const match = rangeShape.exec(item);
  if (match === null) return [item];
  const [, first = '', last = '', stepText] = match;
  const { from, step, count, decimals } = readRange(item, [first, last, stepText], fail);
  const width = padWidth(first, last);
  if (decimals === 0 && width === 0) return { first: from, count, step };
  if (count > parameterValuesMax)
    throw fail(`${count} values`, `at most ${parameterValuesMax} of decimal or padded numbers`);
  return Array.from({ length: count }, (_, index) => printUnits(from + index * step, decimals, width));
}

/** Counted in whole units of the last decimal, so that 0..1..0.1 has no rounding errors in it. */
interface UnitRange {
  readonly from: number;
  readonly step: number;
  readonly count: number;
  readonly decimals: number;
}

function readRange(
  item: string,
  [first, last, stepText]: readonly [first: string, last: string, step: string | undefined],
  fail: Fail,
): UnitRange {
  const decimals = Math.max(...[first, last, stepText ?? ''].map(countDecimals));
  const [from, to] = [toUnits(first, decimals), toUnits(last, decimals)];
  const size = Math.abs(toUnits(stepText ?? '1', decimals));
  if (![from, to, size].every(Number.isSafeInteger)) throw fail(showFound(item), 'numbers of fewer digits');
  if (size === 0) throw fail(`the step ${stepText ?? ''}`, 'another step than 0');
  // As in the shell, the sign of a step follows from the ends.
  const step = to < from ? -size : size;
  return { from, step, count: Math.floor((to - from) / step) + 1, decimals };
}

function countDecimals(text: string): number {
  const point = text.indexOf('.');
  return point === -1 ? 0 : text.length - point - 1;
}

function toUnits(text: string, decimals: number): number {
  const [whole = '', fraction = ''] = text.split('.');
  return Number(whole + fraction.padEnd(decimals, '0')) || 0;
}

/** As wide as the wider end where one of them is written with zeros before it; 0 where none is. */
function padWidth(first: string, last: string): number {
  const wholes = [first, last].map((text) => text.split('.')[0] ?? '');
  return wholes.some((text) => /^[+-]?0\d/.test(text)) ? Math.max(...wholes.map((text) => text.length)) : 0;
}

function printUnits(units: number, decimals: number, width: number): string {
  const digits = String(Math.abs(units)).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const sign = units < 0 ? '-' : '';
  const fraction = decimals === 0 ? '' : `.${digits.slice(digits.length - decimals)}`;
  return sign + whole.padStart(width - sign.length, '0') + fraction;
}
