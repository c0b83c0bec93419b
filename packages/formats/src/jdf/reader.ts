import { findNearestWord } from '@mutirao/core/shared';
import { FormatError, showFound } from '../format-error.ts';

/** Something in a file that is accepted but may not be what was meant. */
export interface Warning {
  /** Counted from 1, as `column` is. */
  readonly line: number;
  readonly column: number;
  /** A sentence. */
  readonly message: string;
}

/** The parts of an error other than its place. */
export interface Refusal {
  readonly expected: string;
  /** The reader's own when left out. */
  readonly code?: string;
  /** The word at the place of the error when left out. */
  readonly found?: string;
  /** Valid words; the nearest to what was found is suggested. */
  readonly words?: readonly string[];
}

/** Things that may be wrong with one text before the rest of it is left unread. */
const faultsMax = 1000;

/**
 * Reads a job or grid file piece by piece in the three modes of OurGrid's lexer: words, strings (paths) and whole
 * lines.
 *
 * `#` begins a comment only where a word may stand, so that it is ordinary text in paths and commands.
 */
export class JdfReader {
  readonly text: string;
  readonly file: string;
  readonly warnings: Warning[] = [];
  /** What is wrong, in the order in which it was found. */
  readonly faults: FormatError[] = [];
  /** Offset of what is read next. */
  position = 0;
  readonly #code: string;
  #lineStarts: number[] | undefined;

  /** @param code of errors that state none. */
  constructor(text: string, file: string, code = 'MUT_JDF_SYNTAX') {
    // CR is dropped, as OurGrid does, but where it alone ends the lines.
    this.text = text.replaceAll('\r', text.includes('\n') ? '' : '\n').replace(/^\uFEFF/, '');
    this.file = file;
    this.#code = code;
  }

  /** Passes blank space, line ends and comments. */
  skipBlank(): void {
    this.#pass(/(?:\s+|#[^\n]*)/y);
  }

  /** Passes spaces and tabs. */
  skipSpaces(): void {
    this.#pass(/[^\S\n]+/y);
  }

  isAtEnd(): boolean {
    return this.position >= this.text.length;
  }

  isAtEndOfLine(): boolean {
    return this.isAtEnd() || this.text[this.position] === '\n';
  }

  /**
   * The word that begins here, without passing it; empty where none does. A word ends at space and at
   * ``;{}():=><&|!"``.
   */
  peekWord(): string {
    return this.#match(/[^\s;{}():=<>&|!"]+/y);
  }

  /** Passes a character when it comes next, after spaces. */
  takeCharacter(character: string): boolean {
    const before = this.position;
    this.skipSpaces();
    if (this.text.startsWith(character, this.position)) {
      this.position += character.length;
      return true;
    }
    this.position = before;
    return false;
  }

  /** The rest of the line without the spaces around it; passes it. */
  takeRestOfLine(): string {
    this.skipSpaces();
    const rest = this.#match(/[^\n]*/y);
    this.position += rest.length;
    return rest.trimEnd();
  }

  /**
   * Reads a value that takes the rest of its line: a label, a command, a check.
   *
   * A value that is quoted as a whole loses its quotes; other quotes stay. `\"` and `\\` lose their backslash, every
   * other backslash stays.
   */
  takeLine(): string {
    const rest = this.takeRestOfLine();
    const whole = /^"((?:[^"\\]|\\.)*)"$/.exec(rest);
    return unescape(whole?.[1] ?? rest);
  }

  /** Reads a path: up to the next space, or between double quotes. @throws {FormatError} where there is none. */
  takePath(what: string): string {
    this.skipSpaces();
    const start = this.position;
    if (this.isAtEndOfLine()) throw this.error({ expected: what });
    const isQuoted = this.text[start] === '"';
    const raw = this.#match(isQuoted ? /"(?:[^"\\\n]|\\[^\n])*"/y : /\S+/y);
    if (raw === '')
      throw this.error({
        expected: 'a closing double quote on the same line',
        found: showFound(this.#match(/[^\n]*/y)),
      });
    this.position += raw.length;
    const path = unescape(isQuoted ? raw.slice(1, -1) : raw);
    if (path === '') throw this.error({ expected: what, found: 'an empty path' }, start);
    if (path.includes('\\')) this.warn(start, 'a backslash in a path is part of a file name here, it parts no folders');
    if (/^~(?:\/|$)/.test(path))
      this.warn(start, 'a tilde in a path is part of a file name here, it means no home folder');
    return path;
  }

  /** Passes the end of a command's line, and a comment before it. @throws {FormatError} when more stands there. */
  expectEndOfLine(expected: string): void {
    this.skipSpaces();
    this.#pass(/#[^\n]*/y);
    if (!this.isAtEndOfLine()) throw this.error({ expected });
  }

  /** Notes a warning, each message once: where it first applies. */
  warn(offset: number, message: string): void {
    if (this.warnings.some((warning) => warning.message === message)) return;
    this.warnings.push({ ...this.placeOf(offset), message });
  }

  /**
   * Notes that something is wrong; the reading goes on. Of one place the first is kept, and behind the last that is
   * kept the text ends.
   */
  report(fault: FormatError): void {
    const { line, column } = fault.problem;
    if (this.isCut() || this.faults.some(({ problem }) => problem.line === line && problem.column === column)) return;
    this.faults.push(fault);
    if (this.isCut()) this.position = this.text.length;
  }

  /** Whether the reader stopped at too many errors. */
  isCut(): boolean {
    return this.faults.length >= faultsMax;
  }

  /**
   * Reads a piece, and reports what is wrong with it: undefined then, and the position is where the reading of it
   * stopped.
   */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      this.report(error);
      return undefined;
    }
  }

  /** Makes the error for what stands at `offset`, or where the reader is. */
  error(refusal: Refusal, offset = this.position): FormatError {
    const word = /[^\s;{}():=<>&|!"]+|\S/y;
    word.lastIndex = offset;
    const resourceStatus = word.exec(this.text)?.[0] ?? '';
    const atEnd = offset >= this.text.length ? 'the end of the file' : 'the end of the line';
    const nearest = findNearestWord(resourceStatus, refusal.words ?? []);
    return new FormatError({
      code: refusal.code ?? this.#code,
      subject: this.file,
      ...this.placeOf(offset),
      found: refusal.found ?? (resourceStatus === '' ? atEnd : showFound(resourceStatus)),
      expected: refusal.expected,
      nearest: nearest === resourceStatus.toLowerCase() ? undefined : nearest,
    });
  }

  /**
   * Line and column of an offset, both from 1. Cost: the length of the text for the first, the logarithm of its lines
   * for others.
   */
  placeOf(offset: number): { line: number; column: number } {
    const starts = (this.#lineStarts ??= [0, ...Array.from(this.text.matchAll(/\n/g), ({ index }) => index + 1)]);
    let line = 1;
    for (let end = starts.length; line < end; ) {
      const middle = (line + end) >> 1;
      if ((starts[middle] ?? Infinity) <= offset) line = middle + 1;
      else end = middle;
    }
    return { line, column: offset - (starts[line - 1] ?? 0) + 1 };
  }

  #match(expression: RegExp): string {
    expression.lastIndex = this.position;
    return expression.exec(this.text)?.[0] ?? '';
  }

  /** Passes all that the expression matches from here on, however often. */
  #pass(expression: RegExp): void {
    for (let length = this.#match(expression).length; length > 0; length = this.#match(expression).length)
      this.position += length;
  }
}

function unescape(text: string): string {
  return text.replace(/\\(["\\])/g, '$1');
}
