import { MutiraoError } from '@mutirao/api/errors';
import { findNearestWord, describeError } from '@mutirao/core/shared';

/** Reads the fields of one object of a JSON file. Errors name file, field, the value found and the expected one. */
export class FieldReader {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #file: string;
  readonly #field: string;

  /**
   * @param field its name within the file, as `queue.states`; empty for the whole file.
   * @param known names that it may have; undefined for any.
   * @throws {MutiraoError} MUT_BAD_CONFIG, as of all methods.
   */
  constructor(
    value: unknown,
    {
      file,
      field,
      known,
    }: { readonly file: string; readonly field: string; readonly known: readonly string[] | undefined },
  ) {
    this.#file = file;
    this.#field = field;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.#refuse(field, value, 'an object');
    this.#value = value as Record<string, unknown>;
    for (const name of Object.keys(this.#value)) {
      if (known === undefined || known.includes(name)) continue;
      const nearest = findNearestWord(name, known);
      throw new MutiraoError(
        'MUT_BAD_CONFIG',
        `${file}: there is no field "${this.#nameOf(name)}"; expected ` +
          `${nearest === undefined ? `one of ${known.join(', ')}` : `perhaps "${nearest}"`}`,
      );
    }
  }

  get names(): string[] {
    return Object.keys(this.#value);
  }

  has(name: string): boolean {
    return this.#value[name] !== undefined;
  }

  /** What a field holds, whatever it is. */
  raw(name: string): unknown {
    return this.#value[name];
  }

  /** An object in a field. */
  child(name: string, known?: readonly string[]): FieldReader {
    return new FieldReader(this.#value[name], { file: this.#file, field: this.#nameOf(name), known });
  }

  /** Objects in a field, at least one. */
  children(name: string, known: readonly string[]): FieldReader[] {
    const value = this.#value[name];
    if (!Array.isArray(value) || value.length === 0) return this.refuse(name, 'an array of objects');
    return value.map(
      (one, index) => new FieldReader(one, { file: this.#file, field: `${this.#nameOf(name)}[${index}]`, known }),
    );
  }

  text(name: string): string {
    const value = this.#value[name];
    return typeof value === 'string' && value !== '' ? value : this.refuse(name, 'a text that is not empty');
  }

  word<const Word extends string>(name: string, words: readonly Word[]): Word {
    return words.find((word) => word === this.#value[name]) ?? this.refuse(name, `one of ${words.join(', ')}`);
  }

  /** Texts, at least one. */
  texts(name: string): readonly string[] {
    const value = this.#value[name];
    const isGood = Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string');
    return isGood ? (value as string[]) : this.refuse(name, 'an array of texts');
  }

  /** A regular expression, read by line. */
  pattern(name: string, flags = 'm'): RegExp {
    const source = this.text(name);
    try {
      return new RegExp(source, flags);
    } catch (error) {
      return this.refuse(name, `a regular expression: ${describeError(error)}`);
    }
  }

  /** Refuses what a field holds. */
  refuse(name: string, expected: string): never {
    return this.#refuse(this.#nameOf(name), this.#value[name], expected);
  }

  #nameOf(name: string): string {
    return this.#field === '' ? name : `${this.#field}.${name}`;
  }

  #refuse(field: string, found: unknown, expected: string): never {
    const shown = found === undefined ? 'absent' : JSON.stringify(found).slice(0, 100);
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `${this.#file}: ${field === '' ? 'the whole' : `field "${field}"`} is ${shown}; expected ${expected}`,
    );
  }
}
