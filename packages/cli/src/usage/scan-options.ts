import type { Command, Option } from 'commander';

import { findNearestWord } from '@mutirao/core/shared';

import { foreignOptions, type ForeignOption } from './foreign-options.ts';

/** One argument of a command line, with the value that belongs to it. */
export type Piece =
  | { readonly kind: 'operand' | 'known'; readonly words: readonly string[] }
  /** @param instead the words to write in its place; undefined where nobody knows. */
  | {
      readonly kind: 'unknown';
      readonly name: string;
      readonly words: readonly string[];
      readonly instead: readonly string[] | undefined;
      readonly why: string;
    };

/** Splits the words after a command's own into arguments, and finds for each unknown option what is meant. */
export function scanOptions(command: Command, path: readonly string[], words: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < words.length; ) {
    const piece = readPiece(command, path, words.slice(at));
    pieces.push(piece);
    at += piece.words.length;
  }
  return pieces;
}

function readPiece(command: Command, path: readonly string[], [word = '', next]: readonly string[]): Piece {
  if (!word.startsWith('-') || word === '-' || /^-\d/.test(word)) return { kind: 'operand', words: [word] };
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  const name = equals < 0 ? word : word.slice(0, equals);
  const known = findOption(command, name);
  const withValue = (hasValue: boolean): readonly string[] =>
    hasValue && equals < 0 && next !== undefined ? [word, next] : [word];
  if (known !== undefined) return { kind: 'known', words: withValue(takesNext(known, next)) };
  const foreign = findForeign(path, name, word);
  if (foreign !== undefined) return foreignPiece(foreign, name, withValue(foreign.hasValue));
  const nearest = findSlip(command, name);
  return nearest === undefined
    ? { kind: 'unknown', name, words: [word], instead: undefined, why: '' }
    : slipPiece(nearest, name, withValue(nearest.required));
}

function slipPiece(nearest: Option, name: string, words: readonly string[]): Piece {
  const [word = '', ...values] = words;
  return {
    kind: 'unknown',
    name,
    words,
    instead: [`${nearest.long ?? ''}${word.slice(name.length)}`, ...values],
    why: '',
  };
}

/**
 * Short names are near to many others by chance: of the letters without the hyphens at most one in three may be wrong.
 */
function findSlip(command: Command, name: string): Option | undefined {
  if (!name.startsWith('--')) return undefined;
  const nearest = findNearestWord(
    name.slice(2),
    command.options.map(({ long }) => long?.slice(2) ?? ''),
  );
  return nearest === undefined || nearest === '' ? undefined : findOption(command, `--${nearest}`);
}

const takesNext = ({ required, optional }: Option, next: string | undefined): boolean =>
  required || (optional && next?.startsWith('-') === false);

function findForeign(path: readonly string[], name: string, word: string): ForeignOption | undefined {
  return foreignOptions[path.join(' ')]?.find(({ names }) => names.includes(name)) ?? findAttached(path, word);
}

/** `-n4` and `-j8`: a short option with its value attached. */
function findAttached(path: readonly string[], word: string): ForeignOption | undefined {
  if (!/^-[A-Za-z]\d/.test(word)) return undefined;
  const found = foreignOptions[path.join(' ')]?.find(
    ({ names, hasValue }) => hasValue && names.includes(word.slice(0, 2)),
  );
  return found === undefined ? undefined : { ...found, hasValue: false, instead: () => found.instead(word.slice(2)) };
}

function foreignPiece(foreign: ForeignOption, name: string, words: readonly string[]): Piece {
  const [word = '', value = word.startsWith('--') && word.includes('=') ? word.slice(word.indexOf('=') + 1) : 'VALUE'] =
    words;
  return { kind: 'unknown', name, words, instead: foreign.instead(value), why: foreign.why };
}

function findOption(command: Command, name: string): Option | undefined {
  return command.options.find(({ long, short }) => name === long || name === short);
}

/** The words of pieces with the ones that are meant; those of which nobody knows stay. */
export function translatePieces(pieces: readonly Piece[]): string[] {
  return pieces.flatMap((piece) => (piece.kind === 'unknown' ? (piece.instead ?? piece.words) : piece.words));
}
