import { isNode, LineCounter, parseDocument } from 'yaml';
import { FormatError } from '../format-error.ts';
import { findRepeatedKey } from './repeated-keys.ts';
import type { TextPlace } from './workflow-document.ts';
import { listYamlFaults, makePlainValue, yamlLimits } from './yaml-values.ts';

/** A value of a JSON or YAML text that knows where it stands. */
export class LocatedValue {
  readonly value: unknown;
  readonly path: readonly (string | number)[];
  readonly #text: string;
  readonly #subject: string;

  constructor(value: unknown, path: readonly (string | number)[], text: string, subject: string) {
    this.value = value;
    this.path = path;
    this.#text = text;
    this.#subject = subject;
  }

  /**
   * A part of it; its value is undefined where there is none. @throws {FormatError} when it is a text, a number or
   * a list where names with values belong: what it says would be lost.
   */
  at(key: string | number): LocatedValue {
    const { value: whole } = this;
    const isHolder = typeof whole === 'object' && whole !== null;
    if (whole !== undefined && whole !== null && (!isHolder || (Array.isArray(whole) && typeof key === 'string')))
      throw this.fault('names with values');
    const value: unknown =
      isHolder && Object.hasOwn(whole, key) ? (whole as Record<string | number, unknown>)[key] : undefined;
    return new LocatedValue(value, [...this.path, key], this.#text, this.#subject);
  }

  /** The elements of a list; none where there is nothing. @throws {FormatError} when it is something else. */
  list(): LocatedValue[] {
    if (this.value === undefined || this.value === null) return [];
    if (!Array.isArray(this.value)) throw this.fault('a list');
    return this.value.map((_, index) => this.at(index));
  }

  /** The names and values of a map; none where there is nothing. @throws {FormatError} when it is something else. */
  entries(): [string, LocatedValue][] {
    if (this.value === undefined || this.value === null) return [];
    if (typeof this.value !== 'object' || Array.isArray(this.value)) throw this.fault('names with values');
    return Object.keys(this.value).map((key) => [key, this.at(key)]);
  }

  /** @throws {FormatError} when it is not a text. */
  text(fallback?: string): string {
    if (this.value === undefined && fallback !== undefined) return fallback;
    if (typeof this.value === 'string') return this.value;
    throw this.fault('a text');
  }

  /** @throws {FormatError} when it is not a number. */
  number(fallback?: number): number {
    if (this.value === undefined && fallback !== undefined) return fallback;
    if (typeof this.value === 'number' && Number.isFinite(this.value)) return this.value;
    throw this.fault('a number', 'MUT_WORKFLOW_COST');
  }

  /**
   * The value of a text with a syntax of its own, such as a duration.
   *
   * @param read a reader of values.
   * @throws {FormatError} of the reader, with the place; when it is not a text.
   */
  read<T>(read: (text: string) => T, fallback?: string): T {
    return this.#readText(this.text(fallback), read);
  }

  /** As `read`, of an amount, which is a number here where it has no unit. */
  readAmount<T>(read: (text: string) => T): T {
    return this.#readText(typeof this.value === 'number' ? String(this.value) : this.text(), read);
  }

  #readText<T>(text: string, read: (text: string) => T): T {
    try {
      return read(text);
    } catch (error) {
      if (error instanceof FormatError) throw this.fault(error.problem.expected, error.code);
      throw error;
    }
  }

  /** An error about it. Cost: the text is read again, for the line. */
  fault(expected: string, code = 'MUT_WORKFLOW_SYNTAX'): FormatError {
    const name = this.path
      .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
      .join('')
      .replace(/^\./, '');
    const found = this.value === undefined ? 'nothing' : JSON.stringify(this.value).slice(0, 60);
    return new FormatError({
      code,
      subject: this.#subject,
      ...this.place(),
      found: `${found} as ${name === '' ? 'the whole' : name}`,
      expected,
    });
  }

  /** Where it stands, or the innermost that holds it. */
  place(): TextPlace {
    const lines = new LineCounter();
    const document = parseDocument(this.#text, { lineCounter: lines, ...yamlLimits });
    for (let path = this.path; ; path = path.slice(0, -1)) {
      const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true);
      if (isNode(node) && node.range) {
        const { line, col } = lines.linePos(node.range[0]);
        return { line, column: col };
      }
      if (path.length === 0) return { line: 1, column: 1 };
    }
  }
}

/**
 * Reads JSON. @throws {FormatError} MUT_WORKFLOW_SYNTAX, also for a name that an object has twice: only one of the two
 * would count.
 */
export function readJson(text: string, subject: string): LocatedValue {
  const fail = (position: number, found: string, expected: string): never => {
    const before = text.slice(0, position).split('\n');
    throw new FormatError({
      code: 'MUT_WORKFLOW_SYNTAX',
      subject,
      line: before.length,
      column: (before.at(-1) as string).length + 1,
      found,
      expected,
    });
  };
  const parse = (): unknown => {
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      const { message } = error as Error;
      return fail(Number(/at position (\d+)/.exec(message)?.[1] ?? text.length), message, 'JSON');
    }
  };
  const value = parse();
  const repeated = findRepeatedKey(text);
  if (repeated !== undefined)
    fail(repeated.position, `a second ${JSON.stringify(repeated.key)} in one object`, 'each name once');
  return new LocatedValue(value, [], text, subject);
}

/**
 * Reads YAML 1.2 without aliases. A number, a date or a word such as `true` stays the text that stands in the file: it
 * may be the name of a task or a file.
 *
 * @throws {FormatError} MUT_WORKFLOW_SYNTAX, also for what would be left out: a second document, a type such as
 * `!include`.
 */
export function readYaml(text: string, subject: string): LocatedValue {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, ...yamlLimits });
  const [fault] = listYamlFaults(document);
  if (fault === undefined) return new LocatedValue(makePlainValue(document.contents), [], text, subject);
  const { line, col } = lines.linePos(fault.position);
  throw new FormatError({
    code: 'MUT_WORKFLOW_SYNTAX',
    subject,
    line,
    column: col,
    found: fault.found,
    expected: fault.expected,
  });
}
