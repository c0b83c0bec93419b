import { extname } from 'node:path';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import type { Values } from '@mutirao/core/messages';
import {
  combineParameters,
  nameParameters,
  parseParameter,
  parseParameterTable,
  type Axis,
  type Parameter,
} from '@mutirao/formats/parameters';

import { collect } from '../../usage/repeated-options.ts';

/** The options that give tasks several values, each with a name. */
export interface ParameterOptions {
  readonly param?: readonly string[];
  readonly paramFile?: readonly string[];
  readonly zip?: true;
  /** False with `--no-header`. */
  readonly header?: boolean;
  readonly separator?: string;
}

/** Tasks with named values. */
export interface Sweep {
  readonly values: Values;
  readonly parameters: readonly Parameter[];
}

/** Adds the options to the group of options that is open. */
export function addParameterOptions(command: Command): void {
  command
    .optionsGroup('Parameters with names:')
    .option(
      '--param <name=values>',
      'one task per value, {NAME} in command and paths: a=1..10, a=0..1..0.25 or b=x,y; several make every ' +
        'combination, the first varies slowest',
      collect,
    )
    .option(
      '--param-file <file>',
      'one task per row of a CSV file; each column is a parameter; "-" reads standard input',
      collect,
    )
    .option('--zip', 'with several --param or --param-file: take first values together, then second values, and so on')
    .option('--no-header', 'with --param-file: the first row has values; columns are {1}, {2}, {3}')
    .option(
      '--separator <character>',
      'with --param-file: what separates cells (default: a tab for .tsv and .tab, else a comma)',
    );
}

/** The names of the options that are given. */
export function parameterOptionsGiven({ param, paramFile, zip, header, separator }: ParameterOptions): string[] {
  const given: readonly (readonly [string, boolean])[] = [
    ['--param', param !== undefined],
    ['--param-file', paramFile !== undefined],
    ['--zip', zip === true],
    ['--no-header', header === false],
    ['--separator', separator !== undefined],
  ];
  return given.filter(([, isGiven]) => isGiven).map(([name]) => name);
}

/**
 * Reads the parameters; undefined where none are given.
 *
 * @param readList reads the file of `--param-file`.
 * @throws {FormatError | MutiraoError} for what is wrong with them.
 */
export function readSweep(options: ParameterOptions, readList: (file: string) => string): Sweep | undefined {
  const { param = [], paramFile = [] } = options;
  refuseLone(options);
  if (param.length + paramFile.length === 0) return undefined;
  const tables = paramFile.map((file) =>
    parseParameterTable(readList(file), {
      subject: file,
      separator: readSeparator(options.separator, file),
      hasHeader: options.header !== false,
    }),
  );
  const listed = param.map(parseParameter);
  const axes: readonly Axis[] = [...listed.map((parameter) => [parameter]), ...tables];
  const combined = combineParameters(options.zip === true ? [axes.flat()] : axes);
  if ('fault' in combined) throw badRequest(combined.fault);
  return { values: combined.values, parameters: axes.flat() };
}

/** Refuses options that say something of parameters that are not there. */
function refuseLone(options: ParameterOptions): void {
  const ofFiles = ['--no-header', '--separator'];
  const given = parameterOptionsGiven(options);
  const lone = given.find((name) => ofFiles.includes(name)) ?? given.find((name) => name === '--zip');
  if (lone === undefined || given.includes('--param-file') || (lone === '--zip' && given.includes('--param'))) return;
  throw badRequest(`${lone} is given without ${lone === '--zip' ? '--param or --param-file' : '--param-file'}`);
}

function readSeparator(text: string | undefined, file: string): string {
  if (text === undefined) return ['.tsv', '.tab'].includes(extname(file).toLowerCase()) ? '\t' : ',';
  const character = text === '\\t' || text.toLowerCase() === 'tab' ? '\t' : text;
  if (character.length === 1 && !/["\r\n\0]/.test(character)) return character;
  throw badRequest(`--separator is ${JSON.stringify(text)}; expected one character, or "tab"`);
}

/**
 * Has the names in braces of a text stand for parameters. @param what names the text for people. @throws {MutiraoError}
 * MUT_BAD_REQUEST for a name that is none of them.
 */
export function nameIn(text: string, what: string, sweep: Sweep | undefined): string {
  if (sweep === undefined) return text;
  const named = nameParameters(
    text,
    sweep.parameters.map(({ name }) => name),
  );
  if ('template' in named) return named.template;
  throw unknownName(what, named.unknown, sweep);
}

function unknownName(
  what: string,
  { name, nearest }: { readonly name: string; readonly nearest: string | undefined },
  { parameters }: Sweep,
): MutiraoError {
  const names = parameters.map((parameter) => `{${parameter.name}}`);
  const known = names.length > 12 ? `${names.slice(0, 12).join(', ')}, ...` : names.join(', ');
  const hint = nearest === undefined ? '' : ` Did you mean {${nearest}}?`;
  return badRequest(
    `{${name}} in ${what} is none of the parameters, which are ${known}.${hint} Write {{${name}}} for the text {${name}}`,
  );
}

/** Refuses names in a text that is the same for all tasks: requirements, or a variable of the environment. */
export function refuseNames(text: string, sweep: Sweep | undefined): void {
  const found = sweep?.parameters.find(({ name }) => text.includes(`{${name}}`));
  if (found === undefined) return;
  throw badRequest(
    `${JSON.stringify(text)} has {${found.name}}, and is the same for all tasks; expected the name in the command, as in ` +
      `X={${found.name}} before it, or in a path`,
  );
}

/** Fills the parameters of a job into its label: each as its values were written, such as `1..10`. */
export function fillLabel(label: string, { parameters }: Sweep): string {
  const texts = new Map(parameters.map(({ name, text }) => [name, text]));
  let filled = label;
  for (const [name, text] of texts) filled = filled.replaceAll(`{${name}}`, text);
  return filled;
}

function badRequest(message: string): MutiraoError {
  return new MutiraoError('MUT_BAD_REQUEST', message);
}
