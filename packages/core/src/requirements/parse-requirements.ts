import type { GetReason } from '../reasons/index.ts';
import type { Comparison, Expression, Question, Requirements, RequirementsError } from './expression.ts';
import { findInUnit } from './memory-units.ts';
import { getError, tokenise, type Expected, type Token } from './tokens.ts';

/** Levels of brackets and negations that an expression may have. */
export const requirementsDepthMax = 100;

/**
 * Reads a requirements expression as JDF writes it: `(os == linux && mem >= 512) or not site = lab`.
 *
 * NOT applies to the next factor, `&&` binds tighter than `||`, words are compared without regard to case, an empty
 * text
 * matches every machine. Departs from OurGrid: values may be quoted, decimals count as numbers, and `version` before an
 * operator is an attribute like any other. Cost: linear.
 */
export function parseRequirements(text: string): Requirements | RequirementsError {
  const tokens = tokenise(text);
  if (!Array.isArray(tokens)) return tokens;
  const cursor: Cursor = { tokens, next: 0 };
  if (peek(cursor).kind === 'end') return { kind: 'requirements', text, expression: undefined };
  const expression = parseAny(cursor, 0);
  if (expression.kind === 'error') return expression;
  const last = peek(cursor);
  if (last.kind !== 'end') return unexpected(last, 'operator');
  return { kind: 'requirements', text, expression };
}

type Unreadable = GetReason<'requirements-unreadable'>;

interface Cursor {
  readonly tokens: readonly Token[];
  next: number;
}

const questions: readonly Question[] = ['in_path', 'in_classpath', 'version'];

function peek(cursor: Cursor, ahead = 0): Token {
  return cursor.tokens[cursor.next + ahead] ?? { kind: 'end', text: 'the end', offset: 0 };
}

/** The meaning of a token where an operator may stand: `and`, `or` and `not` are operators in any case of letters. */
function getOperator(token: Token): Token['kind'] {
  if (token.kind !== 'word') return token.kind;
  const word = token.text.toLowerCase();
  return word === 'and' || word === 'or' || word === 'not' ? word : 'word';
}

function unexpected(
  token: Token,
  expected: Expected,
  more?: Pick<Unreadable, 'name' | 'levelsMax'>,
): RequirementsError {
  const found = token.kind === 'end' ? undefined : token.text;
  return getError(token.offset, { found, expected }, more);
}

function parseAny(cursor: Cursor, depth: number): Expression | RequirementsError {
  return parseChain(cursor, depth, { kind: 'any', operator: 'or', parsePart: parseAll });
}

function parseAll(cursor: Cursor, depth: number): Expression | RequirementsError {
  return parseChain(cursor, depth, { kind: 'all', operator: 'and', parsePart: parseFactor });
}

interface Chain {
  readonly kind: 'all' | 'any';
  readonly operator: 'and' | 'or';
  parsePart(cursor: Cursor, depth: number): Expression | RequirementsError;
}

function parseChain(cursor: Cursor, depth: number, chain: Chain): Expression | RequirementsError {
  const first = chain.parsePart(cursor, depth);
  if (first.kind === 'error') return first;
  const parts = [first];
  while (getOperator(peek(cursor)) === chain.operator) {
    cursor.next++;
    const part = chain.parsePart(cursor, depth);
    if (part.kind === 'error') return part;
    parts.push(part);
  }
  return parts.length === 1 ? first : { kind: chain.kind, parts };
}

function parseFactor(cursor: Cursor, depth: number): Expression | RequirementsError {
  const token = peek(cursor);
  if (depth >= requirementsDepthMax) return unexpected(token, 'fewer-levels', { levelsMax: requirementsDepthMax });
  const operator = getOperator(token);
  if (operator === 'not') {
    cursor.next++;
    const part = parseFactor(cursor, depth + 1);
    return part.kind === 'error' ? part : { kind: 'not', part };
  }
  if (operator === 'open') {
    cursor.next++;
    const inner = parseAny(cursor, depth + 1);
    if (inner.kind === 'error') return inner;
    if (peek(cursor).kind !== 'close') return unexpected(peek(cursor), 'operator-or-bracket');
    cursor.next++;
    return inner;
  }
  if (operator !== 'word') return unexpected(token, 'attribute');
  return parseAtom(cursor);
}

function parseAtom(cursor: Cursor): Expression | RequirementsError {
  const name = peek(cursor).text.toLowerCase();
  cursor.next++;
  const following = peek(cursor);
  if (following.kind === 'comparison') {
    cursor.next++;
    return parseComparison(cursor, name, following.comparison);
  }
  const question = questions.find((candidate) => candidate === name);
  if (question !== undefined) return parseQuestion(cursor, question);
  if (getOperator(following) === 'word' || following.kind === 'quoted') return unexpected(following, 'comparison');
  return { kind: 'bare', name };
}

function parseComparison(cursor: Cursor, name: string, comparison: Comparison): Expression | RequirementsError {
  const wanted = readValue(cursor, 'value', name);
  return typeof wanted === 'string' ? { kind: 'compare', name, comparison, wanted: findInUnit(name, wanted) } : wanted;
}

function parseQuestion(cursor: Cursor, question: Question): Expression | RequirementsError {
  const name = readValue(cursor, 'asked-name', question);
  if (typeof name !== 'string') return name;
  if (question !== 'version') return { kind: 'ask', question, name, wanted: '' };
  const wanted = readValue(cursor, 'least-version', name);
  return typeof wanted === 'string' ? { kind: 'ask', question, name, wanted } : wanted;
}

function readValue(cursor: Cursor, expected: Expected, name: string): string | RequirementsError {
  const token = peek(cursor);
  if (token.kind !== 'word' && token.kind !== 'quoted') return unexpected(token, expected, { name });
  cursor.next++;
  return token.text.toLowerCase();
}
