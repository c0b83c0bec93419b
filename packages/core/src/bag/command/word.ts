import type { Atom } from './atoms.ts';
import type { Bareness, Piece, Slot } from './quote-value.ts';
import type { KnownWord } from './find-script.ts';

/** Words that a shell takes for itself where a command begins; a command may follow each. */
const keywords: ReadonlySet<string> = new Set([
  '!',
  '{',
  '}',
  'if',
  'then',
  'elif',
  'else',
  'fi',
  'while',
  'until',
  'do',
  'done',
  'esac',
  'time',
  'coproc',
]);

/** A word of a simple command while it is read. */
export interface Word {
  /** Index of its first piece. */
  readonly start: number;
  /** Its text without quotes; undefined if only the shell can know it. */
  atoms: Atom[] | undefined;
  /** Whether braces, brackets or a tilde stand unquoted before, which could take a value for more than text. */
  hasPattern: boolean;
  /** Whether any of it is quoted. */
  isQuoted: boolean;
  /** Whether it begins as `name=`. */
  isAssignment: boolean;
}

/** A word without its quotes; undefined where its text depends on the shell or on the value of a placeholder. */
export function findText(word: Word | undefined): string | undefined {
  return word?.atoms?.every((atom) => typeof atom === 'string') === true ? word.atoms.join('') : undefined;
}

/** Adds a character without quotes to a word. */
export function noteCharacter(word: Word, character: string): void {
  if ('{[~'.includes(character)) word.hasPattern = true;
  if ('*?'.includes(character)) word.atoms = undefined;
  if (character === '=' && /^[A-Za-z_]\w*$/.test(findText(word) ?? '')) word.isAssignment = true;
  word.atoms?.push(character);
}

/** Whether it is an option with a command in it, such as `--wrap=...` of sbatch. */
export function isAttachedScript({ atoms }: Word): boolean {
  return /^--(?:wrap|command|split-string)=/.test(
    atoms
      ?.slice(0, 20)
      .filter((atom) => typeof atom === 'string')
      .join('') ?? '',
  );
}

/** A here-document whose lines are still to come. */
export interface HereDocument {
  readonly delimiter: string;
  readonly stripsTabs: boolean;
  readonly isQuoted: boolean;
}

/** The simple command that is being read: its words as far as they are known. */
export class SimpleCommand {
  /** From the name of the command on; keywords and assignments before it are left out. */
  words: KnownWord[] = [];

  /** Takes a word in. Returns it when it is a keyword. */
  add(word: Word): string | undefined {
    const text = findText(word);
    if (this.words.length === 0) {
      if (word.isAssignment) return undefined;
      if (text !== undefined && !word.isQuoted && keywords.has(text)) return text;
    }
    this.words.push(text);
    return this.words.length === 1 && text === 'case' && !word.isQuoted ? text : undefined;
  }

  /** How a value may stand as, or at the beginning of, the next word. */
  barenessOf(word: Word, isFirst: boolean, isBehindName: boolean): Bareness {
    if (word.hasPattern || isBehindName) return 'never';
    if (this.words.length > 0) return 'always';
    return isFirst ? 'path' : 'never';
  }
}

/** Makes a shell read the placeholders from `start` on as text, whatever stands next to them. */
export function quoteAlways(pieces: Piece[], start: number): void {
  replaceSlots(pieces, start, (slot) =>
    slot.place.kind === 'word' ? { ...slot, place: { kind: 'word', bare: 'never' } } : slot,
  );
}

/** Restricts the placeholders from `start` on to plain values. */
export function requirePlain(pieces: Piece[], start: number, where: 'parameter' | 'script'): void {
  replaceSlots(pieces, start, (slot) => ({ ...slot, place: { kind: 'plain-only', where } }));
}

function replaceSlots(pieces: Piece[], start: number, replace: (slot: Slot) => Slot): void {
  for (let index = start; index < pieces.length; index++) {
    const piece = pieces[index];
    if (piece !== undefined && typeof piece !== 'string') pieces[index] = replace(piece);
  }
}
