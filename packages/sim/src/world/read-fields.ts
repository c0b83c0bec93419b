/** A scenario that cannot be run, and why. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';

  /**
   * @param subject the field, by its path: `jobs[0].taskCount`.
   * @param found what it is: `is 0`, `is missing`.
   */
  constructor(subject: string, found: string, wanted: string) {
    super(`${subject} ${found}; expected ${wanted}`);
  }
}

/** Reads one value of a JSON document. */
export interface Reader<T> {
  /** What is allowed, for errors. */
  readonly wanted: string;
  /** @throws {ScenarioError} with the path, the value found and the value wanted. */
  read(value: unknown, path: string): T;
}

/** A reader for each field of a document, those that may be left out in `optional`. */
export type FieldReaders<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: Reader<T[K]> };
export type OptionalReaders<T> = {
  readonly [K in keyof T as undefined extends T[K] ? K : never]-?: Reader<Exclude<T[K], undefined>>;
};

const shownMax = 40;

/** A value as errors show it. */
export function showValue(value: unknown): string {
  const text = value === undefined ? 'nothing' : typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)}...`;
}

function checking<T>(wanted: string, isWanted: (value: unknown) => boolean): Reader<T> {
  return {
    wanted,
    read: (value, path) => {
      if (isWanted(value)) return value as T;
      throw new ScenarioError(path, `is ${showValue(value)}`, wanted);
    },
  };
}

/** A whole number; both bounds are allowed. */
export function whole(min: number, max: number): Reader<number> {
  return checking(
    `a whole number in ${min}..${max}`,
    (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
  );
}

/** A number; both bounds are allowed. */
export function number(min: number, max: number): Reader<number> {
  return checking(`a number in ${min}..${max}`, (value) => typeof value === 'number' && value >= min && value <= max);
}

/** A probability or a share of something that never is all of it. */
export const lessThanOne: Reader<number> = checking(
  'a number from 0 to less than 1',
  (value) => typeof value === 'number' && value >= 0 && value < 1,
);

export const flag: Reader<boolean> = checking('true or false', (value) => typeof value === 'boolean');

/** One of a few words or numbers. */
export function getOne<T extends string | number>(choices: readonly T[]): Reader<T> {
  return checking(choices.length === 1 ? String(choices[0]) : `one of ${choices.join(', ')}`, (value) =>
    choices.includes(value as T),
  );
}

/** A text of 1 to `lengthMax` characters. */
export function text(lengthMax: number): Reader<string> {
  return checking(
    `a text of 1 to ${lengthMax} characters`,
    (value) => typeof value === 'string' && value.length >= 1 && value.length <= lengthMax,
  );
}

/** A list of `min` to `max` elements. */
export function list<T>(element: Reader<T>, min: number, max: number): Reader<readonly T[]> {
  const wanted = `a list of ${min} to ${max}`;
  return {
    wanted,
    read: (value, path) => {
      if (!Array.isArray(value)) throw new ScenarioError(path, `is ${showValue(value)}`, wanted);
      if (value.length < min || value.length > max)
        throw new ScenarioError(path, `has ${value.length} elements`, `${min} to ${max}`);
      return (value as unknown[]).map((each, index) => element.read(each, `${path}[${index}]`));
    },
  };
}

/** An object with these fields, all of them and no other. */
export function object<T extends object>(required: FieldReaders<T>, optional: OptionalReaders<T>): Reader<T> {
  const readers = new Map<string, Reader<unknown>>(Object.entries<Reader<unknown>>({ ...required, ...optional }));
  const wanted = 'an object';
  return {
    wanted,
    read: (value, path) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw new ScenarioError(path === '' ? 'the scenario' : path, `is ${showValue(value)}`, wanted);
      const fields = value as Readonly<Record<string, unknown>>;
      const under = (name: string): string => (path === '' ? name : `${path}.${name}`);
      for (const name of Object.keys(fields)) {
        if (!readers.has(name))
          throw new ScenarioError(under(name), 'is not a field', `only ${[...readers.keys()].join(', ')}`);
      }
      const result: Record<string, unknown> = {};
      for (const [name, reader] of readers) {
        if (Object.hasOwn(fields, name)) result[name] = reader.read(fields[name], under(name));
        else if (!(name in optional)) throw new ScenarioError(under(name), 'is missing', reader.wanted);
      }
      return result as T;
    },
  };
}
