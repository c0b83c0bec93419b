import type { GetReason } from '../reasons/index.ts';
import type { Comparison, RequirementsError } from './expression.ts';

/** A piece of a requirements text; `offset` counts from 0. */
export type Token =
  | { readonly kind: 'word' | 'quoted'; readonly text: string; readonly offset: number }
  | { readonly kind: 'comparison'; readonly comparison: Comparison; readonly text: string; readonly offset: number }
  | { readonly kind: 'and' | 'or' | 'not' | 'open' | 'close' | 'end'; readonly text: string; readonly offset: number };

const symbols: readonly (readonly [string, Comparison | 'and' | 'or' | 'not' | 'open' | 'close'])[] = [
  ['==', '=='],
  ['!=', '!='],
  ['<=', '<='],
  ['>=', '>='],
  ['&&', 'and'],
  ['||', 'or'],
  ['=', '=='],
  ['<', '<'],
  ['>', '>'],
  ['!', 'not'],
  ['(', 'open'],
  [')', 'close'],
];

/** Cuts a requirements text into tokens, of which the last is `end`. Cost: linear. */
export function tokenise(text: string): Token[] | RequirementsError {
  const tokens: Token[] = [];
  let offset = 0;
  while (offset < text.length) {
    if (/\s/.test(text.charAt(offset))) {
      offset++;
      continue;
    }
    const token =
      text[offset] === '"' ? readQuoted(text, offset) : (readSymbol(text, offset) ?? readWord(text, offset));
    if (token.kind === 'error') return token;
    tokens.push(token.token);
    offset = token.end;
  }
  tokens.push({ kind: 'end', text: 'the end', offset: text.length });
  return tokens;
}

/** What could have stood where requirements cannot be read. */
export type Expected = Unreadable['expected'];

type Unreadable = GetReason<'requirements-unreadable'>;

/** That a text is not a requirements expression. @param found undefined for the end. */
export function getError(
  offset: number,
  { found, expected }: { readonly found: string | undefined; readonly expected: Expected },
  more: Pick<Unreadable, 'name' | 'levelsMax'> = {},
): RequirementsError {
  const fault = { code: 'requirements-unreadable', character: offset + 1, expected, ...more } as const;
  return { kind: 'error', fault: found === undefined ? fault : { ...fault, found } };
}

type Read = { readonly kind: 'read'; readonly token: Token; readonly end: number };

function readSymbol(text: string, offset: number): Read | undefined {
  for (const [symbol, meaning] of symbols) {
    if (!text.startsWith(symbol, offset)) continue;
    const place = { text: symbol, offset };
    const isWord =
      meaning === 'and' || meaning === 'or' || meaning === 'not' || meaning === 'open' || meaning === 'close';
    const token: Token = isWord ? { kind: meaning, ...place } : { kind: 'comparison', comparison: meaning, ...place };
    return { kind: 'read', token, end: offset + symbol.length };
  }
  return undefined;
}

function readWord(text: string, offset: number): Read | RequirementsError {
  let end = offset;
  while (end < text.length && !/[\s;{}():=<>&|!"]/.test(text.charAt(end))) end++;
  if (end > offset) return { kind: 'read', token: { kind: 'word', text: text.slice(offset, end), offset }, end };
  const found = text.charAt(offset);
  const expected = { '&': 'and', '|': 'or' }[found] ?? 'token';
  return getError(offset, { found, expected: expected as Expected });
}

function readQuoted(text: string, offset: number): Read | RequirementsError {
  let value = '';
  for (let end = offset + 1; end < text.length; end++) {
    const letter = text.charAt(end);
    if (letter === '"') return { kind: 'read', token: { kind: 'quoted', text: value, offset }, end: end + 1 };
    const next = text[end + 1];
    if (letter === '\\' && (next === '"' || next === '\\')) end++;
    value += text.charAt(end);
  }
  return getError(text.length, { found: undefined, expected: 'closing-quote' });
}
