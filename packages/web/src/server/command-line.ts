import { escapeTemplate, quoteForShell } from '@mutirao/core/bag';
import { printDuration } from '@mutirao/formats';

import type { BagValues, BagSpec } from '../schema/index.ts';

/** Values that a command line names one by one. */
const valuesInLine = 20;
/** Of a list that is given behind the command line. */
const linesBehind = 500;
const charactersBehind = 40_000;

/** Where a command line must work. */
export interface CommandPlace {
  readonly directory: string;
  /** How a shell starts the command line of the grid there. */
  readonly program: string;
}

/** How the values of a bag are given at a terminal. */
interface GivenValues {
  readonly words: readonly (readonly [string, string])[];
  /** Lines that the command reads. */
  readonly lines: readonly string[];
  /** What has to be done before, or why it cannot be done. */
  readonly remark: string;
}

/**
 * What does the same at a terminal, to be pasted into a shell. Files that were dropped have to be put into the folder
 * first; a list too long to be shown is named as a file to be made.
 *
 * @param commands of the rows, where the values are a table.
 */
export function getCommandLine(
  spec: BagSpec,
  { directory, program }: CommandPlace,
  commands: readonly string[],
): string {
  const { words, lines, remark } = givenValues(spec.values, commands);
  const given = [['--label', spec.label] as const, ...words, ...listTerms(spec)].flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [deriveOption(name, value)],
  );
  const inPlace = spec.in_place === true ? ['--in-place'] : [];
  const command = [
    `cd ${quoteForShell(directory)} && ${program} job submit`,
    ...inPlace,
    ...given,
    '--',
    quoteForShell(spec.values.kind === 'csv' ? 'eval {}' : spec.command),
  ].join(' ');
  const dropped = (spec.files ?? []).map(({ name }) => quoteForShell(name));
  const copies = dropped.length === 0 ? '' : `Put ${dropped.join(', ')} into ${directory} first: the page has copies.`;
  const remarks = [copies, remark].filter((text) => text !== '').map((text) => `# ${text}`);
  if (lines.length === 0) return [...remarks, command].join('\n');
  const end = findEnd(lines);
  return [...remarks, `${command} <<'${end}'`, ...lines, end].join('\n');
}

/** The terms of a bag other than its command and values, by the names of the options. */
function listTerms({
  files = [],
  put = [],
  get = [],
  requirements,
  check,
  environment = {},
  processors,
  replicas_max: replicas,
  retries,
  ...times
}: BagSpec): (readonly [string, string | undefined])[] {
  return [
    ...[...files.map(({ name }) => escapeTemplate(name)), ...put].map((text) => ['--put', text] as const),
    ...get.map((text) => ['--get', text] as const),
    ['--requirements', requirements],
    ['--check', check],
    ...Object.entries(environment).map(([name, value]) => ['--env', `${name}=${value}`] as const),
    ['--processors', processors?.toString()],
    ['--replicas', replicas?.toString()],
    ['--retries', retries?.toString()],
    ...listTimes(times),
  ];
}

function listTimes({
  run_time_ms_max: runTime = 0,
  deadline_unix_ms: deadline,
}: Pick<BagSpec, 'run_time_ms_max' | 'deadline_unix_ms'>): (readonly [string, string | undefined])[] {
  return [
    ['--limit-time', runTime === 0 ? undefined : printDuration(runTime)],
    ['--deadline', deadline === undefined ? undefined : new Date(deadline).toISOString()],
  ];
}

/** A value that begins like an option is joined to its own, so that nobody takes it for one. */
function deriveOption(name: string, value: string): string {
  return value.length > 1 && value.startsWith('-')
    ? quoteForShell(`${name}=${value}`)
    : `${name} ${quoteForShell(value)}`;
}

function givenValues(values: BagValues, commands: readonly string[]): GivenValues {
  switch (values.kind) {
    case 'single':
      return { words: [], lines: [], remark: '' };
    case 'array':
      return { words: [['--array', values.selector]], lines: [], remark: '' };
    case 'csv':
      return givenLines(commands, 'commands.txt');
    case 'list': {
      const fitsLine =
        values.values.length <= valuesInLine && values.values.every((value) => /^[^,\n]{1,40}$/.test(value));
      return fitsLine
        ? { words: [['--values', values.values.join(',')]], lines: [], remark: '' }
        : givenLines(values.values, 'values.txt');
    }
  }
}

function givenLines(lines: readonly string[], name: string): GivenValues {
  if (lines.some((line) => /[\r\n]/.test(line)))
    return {
      words: [['--each-line', name]],
      lines: [],
      remark: `A file with one value per line cannot hold this: a value contains a line break.`,
    };
  const isShort =
    lines.length <= linesBehind && lines.reduce((sum, line) => sum + line.length + 1, 0) <= charactersBehind;
  return isShort
    ? { words: [['--each-line', '-']], lines, remark: '' }
    : {
        words: [['--each-line', name]],
        lines: [],
        remark: `Make ${name} first, of ${lines.length} lines: too many to be shown.`,
      };
}

/** A word that ends the lines and is none of them. */
function findEnd(lines: readonly string[]): string {
  let end = 'END';
  while (lines.includes(end)) end += '_';
  return end;
}
