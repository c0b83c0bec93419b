import { MutiraoError } from '@mutirao/api/errors';
import type { Bytes, Duration } from '@mutirao/core/shared';

/** One option of a program: how its text is read, and what holds where nothing is given. */
export interface OptionSpec<T> {
  /** One sentence for --help. */
  readonly help: string;
  /** What stands for the value in --help; empty for a flag. */
  readonly placeholder: string;
  readonly default: T;
  /** Whether it may be given several times. */
  readonly isList: boolean;
  /** Reads one text; for a list, one of its elements. @throws {MutiraoError} MUT_BAD_CONFIG with what was wanted. */
  parse(text: string): T;
  /** The default as --help shows it. */
  readonly shownDefault: string;
}

/** The options of a program, by their name in camel case; `logLevel` is `--log-level`. */
export type OptionSpecs = Readonly<Record<string, OptionSpec<unknown>>>;

/** The values of a program's options. */
export type ConfigOf<O extends OptionSpecs> = { readonly [K in keyof O]: O[K] extends OptionSpec<infer T> ? T : never };

/** A text. The default is empty where none is given. */
export function text(option: {
  readonly help: string;
  readonly placeholder?: string;
  readonly default?: string;
}): OptionSpec<string> {
  const value = option.default ?? '';
  return {
    help: option.help,
    placeholder: option.placeholder ?? 'TEXT',
    default: value,
    isList: false,
    parse: (given) => given,
    shownDefault: value,
  };
}

/** One of a few words. */
export function choice<const Word extends string>(option: {
  readonly help: string;
  readonly words: readonly Word[];
  readonly default: Word;
}): OptionSpec<Word> {
  return {
    help: `${option.help} One of ${option.words.join(', ')}.`,
    placeholder: 'WORD',
    default: option.default,
    isList: false,
    shownDefault: option.default,
    parse: (given) => option.words.find((word) => word === given) ?? refuse(given, `one of ${option.words.join(', ')}`),
  };
}

/**
 * Texts; given several times, or as an array in the configuration file, or separated by commas.
 *
 * Where each is `NAME=VALUE`, a comma separates two only if a name follows: a value may be the path of a folder with a
 * comma in its name.
 */
export function list(option: { readonly help: string; readonly placeholder?: string }): OptionSpec<readonly string[]> {
  return {
    help: `${option.help} May be given several times.`,
    placeholder: option.placeholder ?? 'TEXT',
    default: [],
    isList: true,
    parse: (given) =>
      given.split(option.placeholder?.includes('=') === true ? /,(?=[^,=]*=|$)/ : ',').filter((part) => part !== ''),
    shownDefault: '',
  };
}

/** A whole number within bounds. */
export function integer(option: {
  readonly help: string;
  readonly default: number;
  readonly min: number;
  readonly max: number;
}): OptionSpec<number> {
  const { help, min, max } = option;
  return {
    help,
    placeholder: 'N',
    default: option.default,
    isList: false,
    shownDefault: String(option.default),
    parse: (given) => {
      const value = Number(given);
      return /^-?\d+$/.test(given) && value >= min && value <= max
        ? value
        : refuse(given, `a whole number from ${min} to ${max}`);
    },
  };
}

/** On or off. */
export function flag(option: { readonly help: string }): OptionSpec<boolean> {
  return {
    help: option.help,
    placeholder: '',
    default: false,
    isList: false,
    shownDefault: '',
    parse: (given) =>
      given === 'true' || given === '1'
        ? true
        : given === 'false' || given === '0'
          ? false
          : refuse(given, 'true or false'),
  };
}

/** A span of time: `250ms`, `90s`, `1h30m`; a bare number is seconds. */
export function duration(option: { readonly help: string; readonly default: Duration }): OptionSpec<Duration> {
  return {
    help: option.help,
    placeholder: 'DURATION',
    default: option.default,
    isList: false,
    parse: parseDuration,
    shownDefault: showDuration(option.default),
  };
}

/** A duration in the largest unit that divides it: `5m`, `90s`, `250ms`. */
function showDuration(duration: Duration): string {
  if (duration === 0) return '0';
  const [unit, millis] = [...unitMillis].findLast(([, millis]) => duration % millis === 0) ?? ['ms', 1];
  return `${duration / millis}${unit}`;
}

const unitMillis = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** Reads a span of time. @throws {MutiraoError} MUT_BAD_CONFIG with what was wanted. */
export function parseDuration(given: string): Duration {
  if (/^\d+(\.\d+)?$/.test(given)) return Math.round(Number(given) * 1000);
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(given)) return refuse(given, 'a duration such as 250ms, 90s or 1h30m');
  const parts = given.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g);
  return Math.round(
    [...parts].reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitMillis.get(unit ?? '') ?? 0), 0),
  );
}

/** A size: `4096`, `64K`, `1.5G`; the units are powers of 1024, and may be written `KiB` or `KB` too. */
export function bytes(option: { readonly help: string; readonly default: Bytes }): OptionSpec<Bytes> {
  return {
    help: option.help,
    placeholder: 'SIZE',
    default: option.default,
    isList: false,
    parse: parseBytes,
    shownDefault: showBytes(option.default),
  };
}

function parseBytes(given: string): Bytes {
  const match = /^(\d+(?:\.\d+)?)([KMGT]?)(i?B)?$/i.exec(given);
  if (match === null) return refuse(given, 'a size such as 4096, 64K or 1.5G');
  return Math.round(Number(match[1]) * 1024 ** ' KMGT'.indexOf((match[2] ?? '').toUpperCase() || ' '));
}

function showBytes(size: Bytes): string {
  for (const [index, unit] of ['T', 'G', 'M', 'K'].entries()) {
    const factor = 1024 ** (4 - index);
    if (size >= factor && size % factor === 0) return `${size / factor}${unit}`;
  }
  return String(size);
}

function refuse(given: string, wanted: string): never {
  throw new MutiraoError('MUT_BAD_CONFIG', `"${given}"; expected ${wanted}`);
}
