import { basename, resolve } from 'node:path';

import { parse as parseCsv } from 'csv-parse/sync';

import { MutiraoError } from '@mutirao/api/errors';
import { keepInside, parseTemplate, quoteForShell, renderCommand } from '@mutirao/core/bag';
import type { Content, InputSpec, JobSpec, OutputSpec, TaskGroup, Values } from '@mutirao/core/messages';
import { jobDefaults, makeTaskGroup, parseArray, printDuration } from '@mutirao/formats';

import type { BagValues, BagWish } from '../schema/index.ts';

const rowsMax = 100_000;
/** Values that a command line names one by one. */
const valuesInLine = 20;
const commandsShown = 5;

/** A file that was dropped on the page, once the broker has it. */
export interface DroppedContent {
  readonly name: string;
  readonly content: Content;
}

/** Makes the job that a form describes. @param dropped files of it; each task gets them. @throws {FormatError | MutiraoError} for what is wrong with it. */
export function jobOfBag(wish: BagWish, directory: string, dropped: readonly DroppedContent[]): JobSpec {
  const { command, values } = readTasks(wish);
  const group = makeTaskGroup({
    command, values, check: wish.check ?? '', requirements: wish.requirements ?? '',
    inputs: [...dropped.map(({ name, content }): InputSpec => ({ source: { kind: 'content', content }, root: 'playpen', path: demandInside(name, name), condition: '' })), ...(wish.put ?? []).map((text) => readInput(text, directory))],
    outputs: (wish.get ?? []).map((text) => readOutput(text, directory)),
  });
  return { ...jobDefaults, ...termsOf(wish), groups: [group], homeDirectory: directory, label: wish.label ?? '', environment: wish.environment ?? {} };
}

function termsOf(wish: BagWish): Pick<JobSpec, 'processors' | 'replicasMax' | 'failuresMax' | 'limits' | 'deadline'> {
  return {
    processors: wish.processors ?? 1, replicasMax: wish.replicas_max ?? jobDefaults.replicasMax, failuresMax: wish.retries === undefined ? jobDefaults.failuresMax : wish.retries + 1,
    limits: { ...jobDefaults.limits, runTimeMax: wish.run_time_ms_max ?? 0 }, deadline: wish.deadline_unix_ms,
  };
}

/** The command of a bag and its values: rows of a CSV become whole command lines, which a shell takes up again. */
function readTasks({ command, values }: Pick<BagWish, 'command' | 'values'>): { readonly command: string; readonly values: Values | undefined } {
  switch (values.kind) {
    case 'single': return { command, values: undefined };
    case 'array': return { command, values: parseArray(values.selector) };
    case 'list': return { command, values: { kind: 'list', values: values.values } };
    case 'csv': return { command: 'eval {}', values: { kind: 'list', values: commandsOfCsv(command, values.text) } };
  }
}

/** A line for the shell for each row: `{name}` is the row's cell of that column, quoted, `{#}` the row from 0; braces around anything else stay. @throws {MutiraoError} MUT_BAD_REQUEST */
function commandsOfCsv(command: string, text: string): string[] {
  const [heading = [], ...rows] = readCsv(text);
  if (rows.length === 0) throw new MutiraoError('MUT_BAD_REQUEST', 'the CSV has no row below its heading');
  if (rows.length > rowsMax) throw new MutiraoError('MUT_BAD_REQUEST', `the CSV has ${rows.length} rows; want ${rowsMax} at most`);
  const columns = new Map(heading.map((name, index) => [name.trim(), index]));
  if (![...columns.keys()].some((name) => command.includes(`{${name}}`))) {
    throw new MutiraoError('MUT_BAD_REQUEST', `the command names no column of the CSV; want one of ${[...columns.keys()].slice(0, 10).map((name) => `{${name}}`).join(', ')}`);
  }
  return rows.map((row, index) => command.replace(/\{([^{}]*)\}/g, (found, name: string) => {
    const column = columns.get(name.trim());
    if (column !== undefined) return quoteForShell(row[column] ?? '');
    return name === '#' ? String(index) : found;
  }));
}

function readCsv(text: string): string[][] {
  try {
    return parseCsv(text, { bom: true, skip_empty_lines: true, relax_column_count: true }) as string[][];
  } catch (error) {
    throw new MutiraoError('MUT_BAD_REQUEST', `the CSV cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** `SRC[:DST]`, as `job submit --put` takes it. */
function readInput(text: string, directory: string): InputSpec {
  const [source, destination = basename(source)] = splitPaths(text);
  return { source: { kind: 'path', path: resolve(directory, source) }, root: 'playpen', path: demandInside(destination, text), condition: '' };
}

/** `SRC[:DST]`, as `job submit --get` takes it. */
function readOutput(text: string, directory: string): OutputSpec {
  const [source, destination = ''] = splitPaths(text);
  const localPath = destination === '' || destination.endsWith('/') ? resolve(directory, destination, basename(source)) : resolve(directory, destination);
  return { root: 'playpen', path: demandInside(source, text), localPath, condition: '' };
}

function splitPaths(text: string): [source: string, destination: string | undefined] {
  const [, source = '', destination] = /^(.*?)(?::([^:]*))?$/s.exec(text) ?? [];
  if (source === '' || destination === '') throw new MutiraoError('MUT_BAD_REQUEST', `"${text.slice(0, 100)}" is no SRC or SRC:DST`);
  return [source, destination];
}

/** @throws {MutiraoError} MUT_PATH_LEAVES_ROOT */
function demandInside(path: string, text: string): string {
  const inside = keepInside(path);
  if (inside === undefined) throw new MutiraoError('MUT_PATH_LEAVES_ROOT', `"${text.slice(0, 100)}" names ${path.slice(0, 100)} on the machine; want a path that stays inside the playpen`);
  return inside;
}

/** The command lines of the first tasks, as their shells get them. */
export function firstCommands({ command, values }: TaskGroup): string[] {
  const template = parseTemplate(command);
  const count = values.kind === 'range' ? values.count : values.values.length;
  return Array.from({ length: Math.min(commandsShown, count) }, (_, index) => {
    const value = values.kind === 'range' ? String(values.first + index * values.step) : values.values[index] ?? '';
    return command === 'eval {}' ? value : renderCommand(template, value, index);
  });
}

/** What does the same at a terminal. Files that were dropped are named as if they lay in the folder, lists that are long or odd as a file to be made. */
export function commandLineOf(wish: BagWish, directory: string): string {
  const options: (string | undefined)[][] = [
    ['--label', wish.label], ...valueWords(wish.values), ...[...(wish.files ?? []).map(({ name }) => name), ...wish.put ?? []].map((text) => ['--put', text]), ...(wish.get ?? []).map((text) => ['--get', text]),
    ['--requirements', wish.requirements], ['--check', wish.check], ...Object.entries(wish.environment ?? {}).map(([name, value]) => ['--env', `${name}=${value}`]),
    ['--processors', textOf(wish.processors)], ['--replicas', textOf(wish.replicas_max)], ['--retries', textOf(wish.retries)],
    ['--limit-time', wish.run_time_ms_max === undefined || wish.run_time_ms_max === 0 ? undefined : printDuration(wish.run_time_ms_max)],
    ['--deadline', wish.deadline_unix_ms === undefined ? undefined : new Date(wish.deadline_unix_ms).toISOString()],
  ];
  const given = options.filter(([, value]) => value !== undefined && value !== '').map((words) => words.map((word) => quoteForShell(word ?? '')).join(' '));
  const command = wish.values.kind === 'csv' ? 'eval {}' : wish.command;
  return [`cd ${quoteForShell(directory)} && mutirao job submit`, ...given, '--', quoteForShell(command)].join(' ');
}

function valueWords(values: BagValues): (string | undefined)[][] {
  if (values.kind === 'array') return [['--array', values.selector]];
  if (values.kind === 'csv') return [['--each-line', 'commands.txt']];
  if (values.kind === 'single') return [];
  const fitsLine = values.values.length <= valuesInLine && values.values.every((value) => /^[^,\n]{1,40}$/.test(value));
  return [fitsLine ? ['--values', values.values.join(',')] : ['--each-line', 'values.txt']];
}

function textOf(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
