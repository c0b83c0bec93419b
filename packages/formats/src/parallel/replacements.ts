/** What a replacement string of GNU parallel stands for. */
export interface Replacement {
  /** A number from the front (1) or the end (-1), or the name of a column; undefined for all arguments. */
  readonly argument: number | string | undefined;
  readonly part: 'whole' | 'no-extension' | 'base' | 'folder' | 'base-no-extension' | 'sequence' | 'slot';
  /** Pairs of braces around it, which stay. */
  readonly depth: number;
}

/** A text of GNU parallel, split at its replacement strings. */
export type ReplacedText = readonly (string | Replacement)[];

const parts: Readonly<Record<string, Replacement['part']>> = {
  '': 'whole',
  '.': 'no-extension',
  '/': 'base',
  '//': 'folder',
  '/.': 'base-no-extension',
};

/**
 * Finds `{}`, `{.}`, `{/}`, `{//}`, `{/.}`, the same of one argument (`{2.}`, `{-1/}`, `{name}`), `{#}` and `{%}`.
 *
 * @param names of columns. Other braces are text.
 */
export function readReplacements(text: string, names: readonly string[] = []): ReplacedText {
  const found: (string | Replacement)[] = [];
  let done = 0;
  for (const match of text.matchAll(/(\{+)([^{}\n]*)(\}+)/g)) {
    const [whole, open = '', inside = '', close = ''] = match;
    const replacement = readInside(inside, names);
    if (replacement === undefined) continue;
    const depth = Math.min(open.length, close.length) - 1;
    found.push(text.slice(done, match.index) + open.slice(depth + 1), { ...replacement, depth });
    done = match.index + whole.length - (close.length - depth - 1);
  }
  found.push(text.slice(done));
  return found.filter((piece) => piece !== '');
}

function readInside(inside: string, names: readonly string[]): Omit<Replacement, 'depth'> | undefined {
  if (inside === '#') return { argument: undefined, part: 'sequence' };
  if (inside === '%') return { argument: undefined, part: 'slot' };
  if (names.includes(inside)) return { argument: inside, part: 'whole' };
  return readPart(inside, names);
}

/** Reads `2/.`: an argument by number or name, all without one, and the part of it that is wanted. */
function readPart(inside: string, names: readonly string[]): Omit<Replacement, 'depth'> | undefined {
  const [, argument = '', suffix = ''] = /^(.*?)(\/\/|\/\.|\/|\.)?$/s.exec(inside) ?? [];
  const part = parts[suffix] ?? 'whole';
  if (argument === '') return { argument: undefined, part };
  if (/^-?[1-9]\d*$/.test(argument)) return { argument: Number(argument), part };
  return names.includes(argument) ? { argument, part } : undefined;
}

/** Writes a replacement as it was read, without the braces around it that stay. */
export function printReplacement({ argument = '', part }: Replacement): string {
  if (part === 'sequence') return '#';
  if (part === 'slot') return '%';
  const suffix = Object.entries(parts).find(([, name]) => name === part)?.[0] ?? '';
  return `${argument}${suffix}`;
}

/** What a replacement is filled in with. */
export interface ReplacedWith {
  readonly arguments: readonly string[];
  readonly names: readonly string[];
  readonly sequence: number;
}

/** The texts that a replacement stands for: one, or each argument where it means all of them. */
export function fillReplacement(
  { argument, part, depth }: Replacement,
  { arguments: given, names, sequence }: ReplacedWith,
): readonly string[] {
  const brace = (text: string): string => '{'.repeat(depth) + text + '}'.repeat(depth);
  if (part === 'sequence') return [brace(String(sequence))];
  if (argument === undefined) return given.map((text) => brace(takePart(text, part)));
  const index = typeof argument === 'string' ? names.indexOf(argument) : argument - 1;
  const text = (index < 0 && typeof argument === 'number' ? given.at(argument) : given[index]) ?? '';
  return [brace(takePart(text, part))];
}

function takePart(text: string, part: Replacement['part']): string {
  switch (part) {
    case 'no-extension':
      return cutExtension(text);
    case 'base':
      return cutFolder(text);
    case 'folder':
      return getFolder(text);
    case 'base-no-extension':
      return cutExtension(cutFolder(text));
    default:
      return text;
  }
}

function cutExtension(text: string): string {
  return text.replace(/\.[^/.]*$/, '');
}

function cutFolder(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}

/** As dirname does it. */
function getFolder(text: string): string {
  const cut = text.replace(/(?<=[^/])\/+$/, '');
  const slash = cut.lastIndexOf('/');
  if (slash === -1) return '.';
  return cut.slice(0, slash).replace(/\/+$/, '') || '/';
}
