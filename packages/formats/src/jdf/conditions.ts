import { describeRequirementsFault } from '@mutirao/api/sentences';
import { gangWidthName, parseRequirements, takeGangWidth } from '@mutirao/core/requirements';
import { showFound } from '../format-error.ts';
import type { JdfReader } from './reader.ts';

/** Reads the requirements that take the rest of the line, up to a comment. @throws {FormatError} */
export function takeRequirements(reader: JdfReader): string {
  reader.skipSpaces();
  const start = reader.position;
  const line = reader.takeRestOfLine();
  const text = line.slice(0, findUnquoted(line, /(^|\s)#/y)).trimEnd();
  checkExpression(reader, text, start);
  checkWidth(reader, text, start);
  return text;
}

/** Refuses what is said of the number of processors where it cannot be meant. */
function checkWidth(reader: JdfReader, text: string, start: number): void {
  const parsed = parseRequirements(text);
  const width = parsed.kind === 'error' ? undefined : takeGangWidth(parsed);
  if (width?.kind === 'error') throw reader.error(describeRequirementsFault(width.fault), start);
}

/** Refuses a condition over the number of processors: it is the same on every machine. */
function refuseWidth(reader: JdfReader, text: string, start: number): void {
  const parsed = parseRequirements(text);
  const width = parsed.kind === 'error' ? undefined : takeGangWidth(parsed);
  if (width !== undefined && !(width.kind === 'width' && width.count === undefined)) {
    throw reader.error(
      { found: `${gangWidthName} in the condition of an "if"`, expected: `it in "requirements" alone` },
      start,
    );
  }
}

/** What requirements that were read say of the number of processors, and what is left of them. */
export function splitWidth(text: string): { readonly count: number; readonly rest: string } {
  const parsed = parseRequirements(text);
  const width = parsed.kind === 'error' ? undefined : takeGangWidth(parsed);
  return width?.kind === 'width' ? { count: width.count ?? 1, rest: width.rest } : { count: 1, rest: text };
}

/**
 * Reads the condition after `if`, and its `then`, which may stand on the line below.
 *
 * @throws {FormatError} when the condition is missing or malformed, or there is no `then`.
 */
export function takeCondition(reader: JdfReader): string {
  reader.skipSpaces();
  const start = reader.position;
  const line = reader.takeRestOfLine();
  const end = findUnquoted(line, /(?<![^\s()"])then(?![^\s#])/iy);
  const text = line.slice(0, Math.min(end, findUnquoted(line, /(^|\s)#/y))).trimEnd();
  if (end < line.length) {
    reader.position = start + end + 4;
  } else {
    const endOfLine = start + line.length;
    reader.skipBlank();
    if (reader.peekWord().toLowerCase() !== 'then')
      throw reader.error({ expected: '"then" after the condition' }, endOfLine);
    reader.position += 4;
  }
  if (text === '') throw reader.error({ expected: 'a condition between "if" and "then"' }, start);
  checkExpression(reader, text, start);
  refuseWidth(reader, text, start);
  return text;
}

/** The condition of an `else`. */
export function negate(condition: string): string {
  return `! ( ${condition} )`;
}

/** Refuses a text that is not a requirements expression, or whose negation would be nested too deep. */
function checkExpression(reader: JdfReader, text: string, start: number): void {
  const parsed = parseRequirements(text);
  if (parsed.kind === 'error') {
    throw reader.error(
      { ...describeRequirementsFault(parsed.fault), words: ['and', 'or', 'not', 'then'] },
      start + parsed.fault.character - 1,
    );
  }
  if (text === '') return;
  const negated = parseRequirements(negate(text));
  if (negated.kind === 'error')
    throw reader.error({ expected: 'fewer levels of brackets', found: showFound(text) }, start);
}

/** Where the expression first matches outside double quotes; the length of the line where it does not. */
function findUnquoted(line: string, expression: RegExp): number {
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '\\' && isQuoted) at++;
    else if (line[at] === '"') isQuoted = !isQuoted;
    else if (!isQuoted) {
      expression.lastIndex = at;
      if (expression.test(line)) return at;
    }
  }
  return line.length;
}
