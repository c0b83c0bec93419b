import { readFileSync } from 'node:fs';
import { MutiraoError } from '@mutirao/api/errors';
import { findNearestWord, describeError } from '@mutirao/core/shared';
import type { ConfigOf, OptionSpecs } from './options.ts';

/** Texts that were given for options, by their name; a list has several. */
export type GivenTexts = ReadonlyMap<string, readonly string[]>;

/** Where values come from, the strongest first. */
export interface ConfigSources {
  /** By flags on the command line. */
  readonly flags: GivenTexts;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The configuration file; undefined for none. */
  readonly file: string | undefined;
}

/** The environment variable of an option: `MUTIRAO_BROKER_LOG_LEVEL`. */
export function environmentName(program: string, option: string): string {
  return `MUTIRAO_${program}_${option.replaceAll(/[A-Z]/g, (letter) => `_${letter}`)}`
    .toUpperCase()
    .replaceAll('-', '_');
}

/** The flag of an option: `--log-level`. */
export function flagName(option: string): string {
  return `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * Reads all options: a flag wins over the environment, that over the file, and that over the default. @throws
 * {MutiraoError} MUT_BAD_CONFIG
 */
export function readConfig<O extends OptionSpecs>(program: string, specs: O, sources: ConfigSources): ConfigOf<O> {
  const file =
    sources.file === undefined
      ? new Map<string, readonly string[]>()
      : readConfigFile(sources.file, Object.keys(specs));
  if (program !== environmentIsFilledIn) refuseUnknownVariables(program, Object.keys(specs), sources.environment);
  const values: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(specs)) {
    const variable = environmentName(program, name);
    const inEnvironment = sources.environment[variable];
    const [where, texts] = firstGiven([
      [flagName(name), sources.flags.get(name)],
      [variable, inEnvironment === undefined || inEnvironment === '' ? undefined : [inEnvironment]],
      [`"${name}" of ${sources.file ?? ''}`, file.get(name)],
    ]);
    values[name] = texts === undefined ? spec.default : parseAll(where, texts, spec);
  }
  return values as ConfigOf<O>;
}

/** The environment of agents is filled in by providers, which may be of a later release and know more options. */
const environmentIsFilledIn = 'agent';

/**
 * Whether Kubernetes set it for a service: `MUTIRAO_BROKER_SERVICE_HOST`, or `MUTIRAO_BROKER_PORT` with an address, for
 * a service called `mutirao-broker`.
 */
function isOfService(variable: string, value = ''): boolean {
  return (
    /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_[A-Z]+(_(PROTO|PORT|ADDR))?$/.test(variable) ||
    (variable.endsWith('_PORT') && value.includes('://'))
  );
}

/** Refuses variables that look like options of the program but are not options: they would be ignored silently. */
function refuseUnknownVariables(
  program: string,
  names: readonly string[],
  environment: ConfigSources['environment'],
): void {
  const known = names.map((name) => environmentName(program, name));
  const prefix = environmentName(program, '');
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith(prefix) || known.includes(variable) || isOfService(variable, value)) continue;
    const nearest = findNearestWord(variable, known);
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `the environment has ${variable}, which is not an option of ` +
        `${program}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`,
    );
  }
}

function firstGiven(
  places: readonly (readonly [string, readonly string[] | undefined])[],
): readonly [string, readonly string[] | undefined] {
  return places.find(([, texts]) => texts !== undefined) ?? ['', undefined];
}

function parseAll(where: string, texts: readonly string[], spec: OptionSpecs[string]): unknown {
  try {
    const values = texts.map((given) => spec.parse(given));
    if (spec.isList) return values.flat();
    if (texts.length > 1 && spec.placeholder !== '')
      throw new MutiraoError(
        'MUT_BAD_CONFIG',
        `given ${texts.length} times, as ${texts.map((given) => `"${given}"`).join(' and ')}; expected it once`,
      );
    return values.at(-1);
  } catch (error) {
    if (!(error instanceof MutiraoError)) throw error;
    throw new MutiraoError('MUT_BAD_CONFIG', `${where} is ${error.message}`, { cause: error });
  }
}

/** The texts of a JSON file with one object. Refuses keys that are not options. */
function readConfigFile(path: string, names: readonly string[]): GivenTexts {
  const content = parseJson(path);
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `${path} holds ${JSON.stringify(content).slice(0, 40)}; expected one object`,
    );
  }
  const texts = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(content)) {
    if (!names.includes(name)) {
      const nearest = findNearestWord(name, names);
      throw new MutiraoError(
        'MUT_BAD_CONFIG',
        `${path}: unknown key "${name}"${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`,
      );
    }
    texts.set(name, listTexts(path, name, value));
  }
  return texts;
}

function parseJson(path: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)));
  } catch (error) {
    throw new MutiraoError('MUT_BAD_CONFIG', `${path} cannot be read: ${describeError(error)}`, { cause: error });
  }
}

function listTexts(path: string, name: string, value: unknown): readonly string[] {
  const elements: unknown[] = Array.isArray(value) ? value : [value];
  return elements.map((element) => {
    if (typeof element === 'string' || typeof element === 'number' || typeof element === 'boolean')
      return String(element);
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `${path}: "${name}" is ${JSON.stringify(element)}; expected a text, a number or true or false`,
    );
  });
}
