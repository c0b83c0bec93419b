import type { Instant } from '@mutirao/core/shared';
import { listIds } from './list-ids.ts';
import { findLetter } from './walk-ids.ts';

/** How a message is described. */
export interface Narration {
  /** Instants are printed relative to it; as they are when left out. */
  readonly start?: Instant | undefined;
  /** Of lists whose elements touch some of these ids, only those elements are printed. */
  readonly about?: ReadonlySet<string> | undefined;
}

const lineMax = 400;
const textMax = 60;
const elementsMax = 4;
const depthMax = 5;
/** Fields that hold instants. Anything further from the start than this is none of a live process. */
const instantName = /^(at|until|deadline|now)$|(At|Since|Until|End)$/;
const distanceMax = 10 * 365 * 86_400_000;

/**
 * One line of text about an input, a change or a command of any machine; empty fields are left out, long ones are cut.
 */
export function describe(message: { readonly kind: string }, narration: Narration = {}): string {
  const { kind, ...fields } = message;
  return cut([kind, ...showFields(fields, narration, 1)].join(' '), lineMax);
}

function showFields(fields: object, narration: Narration, depth: number): string[] {
  return Object.entries(fields)
    .filter(([, value]) => !isEmpty(value))
    .map(([name, value]) => `${name}=${showField(name, value, narration, depth)}`);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === '' || value === null) return true;
  if (typeof value !== 'object') return false;
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length === 0;
  if (value instanceof Map || value instanceof Set) return value.size === 0;
  return Object.keys(value).length === 0;
}

function showField(name: string, value: unknown, narration: Narration, depth: number): string {
  const letter = findLetter(name);
  if (letter !== undefined && isNumbers(value)) return showRanges(letter, value);
  if (typeof value !== 'number') return show(value, narration, depth);
  if (letter !== undefined) return `${letter}${value}`;
  const { start } = narration;
  const isInstant = start !== undefined && instantName.test(name) && Math.abs(value - start) < distanceMax;
  return isInstant ? showTime(value - start) : String(value);
}

function show(value: unknown, narration: Narration, depth: number): string {
  if (typeof value === 'string') return showText(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Uint8Array) return showBytes(value);
  const list =
    Array.isArray(value) || value instanceof Map || value instanceof Set
      ? [...(value as Iterable<unknown>)]
      : undefined;
  if (list !== undefined) return showList(list, narration, depth);
  return depth >= depthMax ? '{...}' : `{${showFields(value, narration, depth + 1).join(' ')}}`;
}

function showList(values: readonly unknown[], narration: Narration, depth: number): string {
  if (depth >= depthMax) return `[${values.length}]`;
  const { about } = narration;
  const wanted =
    about === undefined
      ? []
      : values.filter((value) => typeof value === 'object' && listIds(value).some((id) => about.has(id)));
  const reported = (wanted.length > 0 ? wanted : values)
    .slice(0, elementsMax)
    .map((value) => show(value, narration, depth + 1));
  return `[${reported.join(', ')}${reported.length < values.length ? `, ... ${values.length} in all` : ''}]`;
}

function showText(text: string): string {
  return /^[^\s"={}[\],]+$/.test(text) && text.length <= textMax ? text : cut(JSON.stringify(text), textMax);
}

/** `r1-r5,r9` in the order in which they stand. */
function showRanges(letter: string, numbers: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range !== undefined && number === range.last + 1) range.last = number;
    else ranges.push({ first: number, last: number });
  }
  const reported = ranges
    .slice(0, 2 * elementsMax)
    .map(({ first, last }) => (first === last ? `${letter}${first}` : `${letter}${first}-${letter}${last}`));
  return `[${reported.join(',')}${reported.length < ranges.length ? `,... ${numbers.length} in all` : ''}]`;
}

function showBytes(bytes: Uint8Array): string {
  const beginning = [...bytes.subarray(0, 24)];
  const isText = beginning.every((byte) => byte === 10 || (byte >= 32 && byte < 127));
  return isText
    ? `<${bytes.length} bytes ${JSON.stringify(String.fromCharCode(...beginning))}${bytes.length > 24 ? '...' : ''}>`
    : `<${bytes.length} bytes>`;
}

/** A span in seconds, to the millisecond: `+1.250`. */
export function showTime(span: number): string {
  return `${span < 0 ? '-' : '+'}${(Math.abs(span) / 1000).toFixed(3)}`;
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number');
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}...`;
}
