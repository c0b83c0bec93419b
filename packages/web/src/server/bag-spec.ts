import { basename, relative, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { sayReason } from '@mutirao/api/reasons';
import { CommandFault, escapeTemplate, fillNamed, keepInside, parseCommand, renderCommand } from '@mutirao/core/bag';
import type { Content, InputSpec, JobSpec, OutputSpec, TaskGroup, Values } from '@mutirao/core/messages';
import { FormatError, jobDefaults, makeTaskGroup, parseArray, parseSelector } from '@mutirao/formats';
import { readTable, type TableRow } from '@mutirao/formats/parameters';

import type { BagSpec } from '../schema/index.ts';

const rowsMax = 100_000;
const commandsShown = 5;

/** A file that was dropped on the page, once the broker has it. */
export interface DroppedContent {
  readonly name: string;
  readonly content: Content;
}

/**
 * Makes the job that a form describes. @param dropped files of it; each task gets them. @throws {FormatError |
 * MutiraoError} for what is wrong with it.
 */
export function jobOfBag(spec: BagSpec, directory: string, dropped: readonly DroppedContent[]): JobSpec {
  refuseNames(dropped.map(({ name }) => name));
  const places = { directory, isInPlace: spec.in_place === true };
  if (places.isInPlace && dropped.length > 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the file ${JSON.stringify(dropped[0]?.name)} was dropped on the page, and tasks start in ${directory}; ` +
        'expected it there, or tasks that start in an empty folder',
    );
  requireClosedQuotes(spec.command);
  const { command, values } = readTasks(spec);
  const group = makeTaskGroup({
    command,
    values,
    check: spec.check ?? '',
    requirements: spec.requirements ?? '',
    inputs: [
      ...dropped.map(
        ({ name, content }): InputSpec => ({
          source: { kind: 'content', content },
          root: 'playpen',
          path: escapeTemplate(requireInside(name, name)),
          condition: '',
        }),
      ),
      ...(spec.put ?? []).map((text) => readInput(text, places)),
    ],
    outputs: (spec.get ?? []).map((text) => readOutput(text, places)),
  });
  return {
    ...jobDefaults,
    ...listTerms(spec),
    ...inFolder(spec, directory),
    groups: [group],
    homeDirectory: directory,
    label: spec.label ?? '',
    environment: spec.environment ?? {},
  };
}

/** What a shell takes as a whole: an escaped character, closed quotes, a comment up to the end of its line. */
const closed = /\\[^]|'[^']*'|"(?:\\[^]|[^"\\])*"|`(?:\\[^]|[^`\\])*`|(?:^|\s)#[^\n]*/g;

/**
 * The quote that a line for a shell opens and does not close; undefined where all are closed. Lines with a
 * here-document, whose text may hold single ones, are not looked at.
 */
export function findOpenQuote(line: string): string | undefined {
  return line.includes('<<') ? undefined : /['"`]/.exec(line.replace(closed, ' '))?.[0];
}

/** Each task of a line with an open quote would fail. @throws {MutiraoError} MUT_BAD_REQUEST */
function requireClosedQuotes(command: string): void {
  const quote = findOpenQuote(command);
  if (quote !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the command opens a ${quote} that it does not close; expected one that closes it, or \\${quote} for the character`,
    );
}

/**
 * What a job has whose tasks start in its folder: one run of a task at a time, since two would write the same files.
 * @throws {MutiraoError} MUT_BAD_REQUEST for more of them.
 */
export function inFolder(
  { in_place: isInPlace = false, replicas_max: replicasMax = 1 }: Pick<BagSpec, 'in_place' | 'replicas_max'>,
  directory: string,
): Partial<Pick<JobSpec, 'workFolder' | 'replicasMax'>> {
  return isInPlace ? { workFolder: directory, replicasMax } : {};
}

function listTerms(spec: BagSpec): Pick<JobSpec, 'processors' | 'replicasMax' | 'failuresMax' | 'limits' | 'deadline'> {
  return {
    processors: spec.processors ?? 1,
    replicasMax: spec.replicas_max ?? jobDefaults.replicasMax,
    failuresMax: spec.retries === undefined ? jobDefaults.failuresMax : spec.retries + 1,
    limits: { ...jobDefaults.limits, runTimeMax: spec.run_time_ms_max ?? 0 },
    deadline: spec.deadline_unix_ms,
  };
}

/** The command of a bag and its values: rows of a CSV become whole command lines, which a shell takes up again. */
function readTasks({ command, values }: Pick<BagSpec, 'command' | 'values'>): {
  readonly command: string;
  readonly values: Values | undefined;
} {
  switch (values.kind) {
    case 'single':
      return { command, values: undefined };
    case 'array':
      return { command, values: readArray(values.selector) };
    case 'list':
      return { command, values: { kind: 'list', values: values.values.map(requireText) } };
    case 'csv':
      return { command: 'eval {}', values: { kind: 'list', values: commandsOfCsv(command, values.text) } };
  }
}

/** One range may be of any length; numbers that have to be listed are as many as rows may be. */
function readArray(selector: string): Values {
  const parsed = parseSelector(selector);
  const count =
    parsed.kind === 'ranges' && parsed.ranges.length > 1
      ? parsed.ranges.reduce((sum, range) => sum + range.count, 0)
      : 0;
  if (count > rowsMax)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `these ranges have ${count} numbers; expected ${rowsMax} at most, or a single range`,
    );
  return parseArray(selector);
}

function requireText(value: string): string {
  if (value.includes('\0'))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the value ${JSON.stringify(value.slice(0, 40))} has a NUL, which no command can take`,
    );
  return value;
}

/** Refuses names of dropped files that would be read otherwise as paths of a job, or one of them twice. */
function refuseNames(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    const shown = JSON.stringify(name.slice(0, 100));
    if (/[:$]/.test(name))
      throw new MutiraoError(
        'MUT_BAD_REQUEST',
        `the file ${shown} has a ":" or a "$" in its name, which mean something in the paths of a job; expected ` +
          'another name',
      );
    if (seen.has(name))
      throw new MutiraoError('MUT_BAD_REQUEST', `two files are called ${shown}; expected names of their own`);
    seen.add(name);
  }
}

/**
 * A line for the shell for each row: `{name}` is the row's cell of that column, quoted, `{#}` the row from 0; braces
 * around anything else stay. @throws {MutiraoError} MUT_BAD_REQUEST
 */
function commandsOfCsv(command: string, text: string): string[] {
  const [heading = { line: 1, cells: [] }, ...rows] = readCsv(text);
  if (rows.length === 0) throw new MutiraoError('MUT_BAD_REQUEST', 'the CSV has no row below its heading');
  if (rows.length > rowsMax)
    throw new MutiraoError('MUT_BAD_REQUEST', `the CSV has ${rows.length} rows; expected ${rowsMax} at most`);
  const columns = new Map(heading.cells.map((name, index) => [name.trim(), index]));
  if (columns.size < heading.cells.length)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `two columns of the CSV have the same name; its heading is ${JSON.stringify(heading.cells).slice(0, 200)}`,
    );
  const ragged = rows.find(({ cells }) => cells.length !== heading.cells.length);
  if (ragged !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `line ${ragged.line} of the CSV has ${ragged.cells.length} cells; expected ${heading.cells.length}, as its ` +
        'heading has',
    );
  if (![...columns.keys()].some((name) => command.includes(`{${name}}`))) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the command names no column of the CSV; expected one of ${[...columns.keys()]
        .slice(0, 10)
        .map((name) => `{${name}}`)
        .join(', ')}`,
    );
  }
  return rows.map((row, index) => fillRow(command, columns, row, index));
}

function fillRow(
  command: string,
  columns: ReadonlyMap<string, number>,
  { line, cells }: TableRow,
  index: number,
): string {
  try {
    return fillNamed(
      command,
      new Map([
        ['#', String(index)],
        ...[...columns].map(([name, column]) => [name, requireText(cells[column] ?? '')] as const),
      ]),
    );
  } catch (error) {
    throw error instanceof CommandFault
      ? new MutiraoError('MUT_BAD_REQUEST', `line ${line} of the CSV: ${sayReason(error.reason)}`, {
          cause: error,
          reason: error.reason,
        })
      : error;
  }
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
function readCsv(text: string): TableRow[] {
  try {
    return readTable(text, { subject: 'the CSV', separator: ',' });
  } catch (error) {
    throw error instanceof FormatError ? new MutiraoError('MUT_BAD_REQUEST', error.message, { cause: error }) : error;
  }
}

interface Places {
  readonly directory: string;
  /** Whether tasks start in that folder. */
  readonly isInPlace: boolean;
}

/** `SRC[:DST]`, as `job submit --put` takes it. */
function readInput(text: string, { directory, isInPlace }: Places): InputSpec {
  const [source, given] = splitPaths(text);
  const path = resolve(directory, source);
  const destination = given ?? (isInPlace ? relative(directory, path) : basename(source));
  return { source: { kind: 'path', path }, root: 'playpen', path: requireInside(destination, text), condition: '' };
}

/** `SRC[:DST]`, as `job submit --get` takes it. */
function readOutput(text: string, { directory, isInPlace }: Places): OutputSpec {
  const [given, wanted] = splitPaths(text);
  const source = isInPlace ? relative(directory, resolve(directory, given)) : given;
  const destination = wanted ?? (isInPlace ? source : '');
  const localPath =
    destination === '' || destination.endsWith('/')
      ? resolve(directory, destination, basename(source))
      : resolve(directory, destination);
  return { root: 'playpen', path: requireInside(source, text), localPath, condition: '' };
}

function splitPaths(text: string): [source: string, destination: string | undefined] {
  const [, source = '', destination] = /^(.*?)(?::([^:]*))?$/s.exec(text) ?? [];
  if (source === '' || destination === '')
    throw new MutiraoError('MUT_BAD_REQUEST', `expected SRC or SRC:DST, found "${text.slice(0, 100)}"`);
  return [source, destination];
}

/** @throws {MutiraoError} MUT_PATH_LEAVES_ROOT */
function requireInside(path: string, text: string): string {
  const inside = keepInside(path);
  if (inside === undefined)
    throw new MutiraoError(
      'MUT_PATH_LEAVES_ROOT',
      `"${text.slice(0, 100)}" names ${path.slice(0, 100)} on the machine; expected a path that stays inside ` +
        'the playpen',
    );
  return inside;
}

/** The command lines of the first tasks, as their shells get them. */
export function firstCommands({ command, values }: TaskGroup): string[] {
  const template = parseCommand(command);
  const count = values.kind === 'range' ? values.count : values.values.length;
  return Array.from({ length: Math.min(commandsShown, count) }, (_, index) => {
    const value = values.kind === 'range' ? String(values.first + index * values.step) : (values.values[index] ?? '');
    return command === 'eval {}' ? value : renderCommand(template, value, index);
  });
}
