import type { GetReason, Reason } from '../../reasons/index.ts';
import { quoteForShell } from '../shell-words.ts';

/**
 * When a value of plain characters may stand without quotes: always, only when it is a path (so no keyword or
 * assignment), or never.
 */
export type Bareness = 'always' | 'path' | 'never';

/** Where in a shell command a placeholder stands, which decides how a value is written there. */
export type Place =
  | { readonly kind: 'word'; readonly bare: Bareness }
  | { readonly kind: 'single' }
  /** `isBehindName`: a variable such as `$x` ends just before it. */
  | { readonly kind: 'double'; readonly isBehindName: boolean }
  | {
      readonly kind: 'here-document';
      readonly delimiter: string;
      readonly stripsTabs: boolean;
      readonly isBehindName: boolean;
    }
  /** A here-document whose delimiter is quoted, where nothing can be escaped. */
  | { readonly kind: 'here-text'; readonly delimiter: string; readonly stripsTabs: boolean }
  | { readonly kind: 'arithmetic' }
  /** A place where only plain characters keep their meaning; `where` says which. */
  | { readonly kind: 'plain-only'; readonly where: GetReason<'value-not-plain'>['place'] };

/** A placeholder of a command. */
export interface Slot {
  /** `value`, `index`, or what the caller's placeholders are called. */
  readonly name: string;
  readonly place: Place;
  /** How many scripts, each written as one single-quoted word, surround it. */
  readonly scripts: number;
}

/** A piece of a scanned command: text as it is, or a placeholder. */
export type Piece = string | Slot;

/** Expands to nothing whether or not IFS is set, and keeps a line from being a delimiter and a name from growing. */
const nothing = '${IFS+}';
const plain = /^[A-Za-z0-9@%+=:,./_-]*$/;

/**
 * Writes a value for its place, so that the shell reads back exactly this text. The value must have no fault there
 * (`findValueFault`).
 */
export function quoteValue({ place, scripts }: Slot, value: string): string {
  let quoted = quoteAt(place, value);
  for (let level = 0; level < scripts; level++) quoted = escapeSingle(quoted);
  return quoted;
}

/** Says why a value has no safe meaning at its place; undefined where it has one. */
export function findValueFault({ place }: Slot, value: string): Reason | undefined {
  switch (place.kind) {
    case 'arithmetic':
      return /^[+-]?\d+$/.test(value) ? undefined : { code: 'value-in-arithmetic' };
    case 'plain-only':
      return plain.test(value) ? undefined : { code: 'value-not-plain', place: place.where };
    case 'here-text':
      return endsHereText(place, value) ? { code: 'value-ends-here-document', delimiter: place.delimiter } : undefined;
    default:
      return undefined;
  }
}

/** Whether `findValueFault` has to look at each value of a placeholder at this place. */
export function needsCheck({ place }: Slot): boolean {
  return place.kind === 'arithmetic' || place.kind === 'plain-only' || place.kind === 'here-text';
}

/** Writes a text for the inside of single quotes. */
export function escapeSingle(text: string): string {
  return text.includes("'") ? text.replaceAll("'", `'\\''`) : text;
}

function quoteAt(place: Place, value: string): string {
  switch (place.kind) {
    case 'word':
      return isBare(place.bare, value) ? quoteForShell(value) : `'${escapeSingle(value)}'`;
    case 'single':
      return escapeSingle(value);
    case 'double':
      return `${place.isBehindName ? '""' : ''}${value.replace(/["\\$`]/g, '\\$&')}`;
    case 'here-document':
      return quoteInDocument(place, value);
    case 'arithmetic':
      return /^[+-]/.test(value) ? `(${value})` : value;
    case 'here-text':
    case 'plain-only':
      return value;
  }
}

function isBare(bare: Bareness, value: string): boolean {
  return bare === 'always' || (bare === 'path' && value.includes('/') && !value.includes('='));
}

function quoteInDocument(
  { delimiter, stripsTabs, isBehindName }: Extract<Place, { kind: 'here-document' }>,
  value: string,
): string {
  const mayEnd = value.includes('\n') || delimiter.includes(value) || (stripsTabs && value.startsWith('\t'));
  const escaped = value.replace(/[\\$`]/g, '\\$&');
  if (mayEnd) return nothing + escaped.replaceAll('\n', `\n${nothing}`);
  return isBehindName ? nothing + escaped : escaped;
}

function endsHereText({ delimiter, stripsTabs }: Extract<Place, { kind: 'here-text' }>, value: string): boolean {
  const lines = value.split('\n');
  return lines.some((line, index) => {
    const isWhole = index > 0 && index < lines.length - 1;
    if (stripsTabs && line.startsWith('\t')) return true;
    return isWhole ? line === delimiter : delimiter.includes(line);
  });
}
