import { resolve } from 'node:path';

import {
  combineSources,
  hasReplacement,
  readParallelWords,
  type ArgumentSource,
  type ParallelCommand,
  type ParallelJob,
} from '@mutirao/formats/parallel';

import { readStandardInput, readText } from '../commands/job/job-file.ts';
import { badRequest, readCount, type ParallelOptions } from './parallel-options.ts';

/** The jobs of a command line. */
export interface ReadJobs {
  readonly command: ParallelCommand;
  readonly jobs: readonly ParallelJob[];
}

const jobsMax = 1_000_000;

/** The variable of the shell that `{%}` becomes. */
const slotVariable = '$PARALLEL_JOBSLOT';

/** Reads command and arguments. @throws {MutiraoError} MUT_BAD_REQUEST */
export function readJobs(words: readonly string[], options: ParallelOptions, directory: string): ReadJobs {
  const { command: given, sources } = readParallelWords(words);
  refusePerl(given);
  const records = readSources(sources, options, directory);
  const split = splitColumns(records, options);
  const rows = combineSources(split.sources, { link: options.link === true, countMax: jobsMax });
  if (rows === undefined) throw badRequest(`the sources make more than ${jobsMax} jobs; expected fewer`);
  const grouped = groupRows(rows, split.sources.length, options);
  refuseNul(grouped);
  const isEmpty = (row: readonly string[]): boolean => row.every((text) => text === '');
  const kept = options.runIfEmpty ? grouped : grouped.filter((row) => !isEmpty(row));
  const insertsNone = options.maxReplaceArgs === '0';
  return {
    command: {
      words: given,
      names: split.names,
      isQuoted: options.quote === true,
      appends: given.length > 0 && !insertsNone && !hasReplacement(given, split.names),
      slot: slotVariable,
    },
    jobs: kept.map((row, index) => ({ sequence: index + 1, arguments: row })),
  };
}

function refusePerl(words: readonly string[]): void {
  for (const word of words)
    if (/\{=.*=\}/s.test(word))
      throw badRequest(`${word} has a Perl expression of GNU parallel, which is not supported`);
}

function refuseNul(rows: readonly (readonly string[])[]): void {
  for (const row of rows)
    if (row.some((text) => text.includes('\0'))) throw badRequest('an argument holds a NUL, which no command can take');
}

/** The records of each source; without any, those of standard input. */
function readSources(
  sources: ReturnType<typeof readParallelWords>['sources'],
  options: ParallelOptions,
  directory: string,
): { readonly isLinked: boolean; readonly records: readonly string[] }[] {
  const records = [
    ...(options.argFile ?? []).map((file) => ({ isLinked: false, records: readRecords(file, options, directory) })),
    ...sources.map(({ kind, texts, isLinked }) => ({
      isLinked,
      records: kind === 'values' ? texts : readRecords(texts[0] ?? '-', options, directory),
    })),
  ];
  return records.length > 0 ? records : [{ isLinked: false, records: readRecords('-', options, directory) }];
}

function readRecords(file: string, { null: isNull, delimiter }: ParallelOptions, directory: string): readonly string[] {
  const text = file === '-' ? readStandardInput() : readText(resolve(directory, file));
  const end = isNull === true ? '\0' : readDelimiter(delimiter);
  const records = text.split(end);
  if (records.at(-1) === '') records.pop();
  return records;
}

function readDelimiter(text = '\n'): string {
  const named: Readonly<Record<string, string>> = { '\\n': '\n', '\\t': '\t', '\\0': '\0' };
  const character = named[text] ?? text;
  if (character.length !== 1) throw badRequest(`--delimiter is ${JSON.stringify(text)}; expected one character`);
  return character;
}

interface Records {
  readonly isLinked: boolean;
  readonly records: readonly string[];
}

function splitColumns(
  all: readonly Records[],
  { colsep, header }: ParallelOptions,
): { readonly sources: readonly ArgumentSource[]; readonly names: readonly string[] } {
  const separator = colsep === undefined ? undefined : readExpression('--colsep', colsep);
  const split = (record: string): readonly string[] =>
    separator === undefined ? [record] : record.split(separator).map((cell) => cell.trim());
  const headerSeparator = header === undefined || header === ':' ? undefined : readExpression('--header', header);
  const names: string[] = [];
  const sources = all.map(({ isLinked, records }) => {
    const [first = ''] = records;
    if (header !== undefined)
      names.push(...(headerSeparator === undefined ? split(first) : first.split(headerSeparator)));
    return { isLinked, rows: (header === undefined ? records : records.slice(1)).map(split) };
  });
  return { sources, names };
}

function readExpression(name: string, text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch {
    throw badRequest(`${name} is ${JSON.stringify(text)}; expected a regular expression`);
  }
}

/** Joins the arguments of several records where a job takes more than one. */
function groupRows(
  rows: readonly (readonly string[])[],
  sourceCount: number,
  options: ParallelOptions,
): readonly (readonly string[])[] {
  const count =
    readCount('--max-replace-args', options.maxReplaceArgs, 0) ?? readCount('--max-args', options.maxArgs, 1) ?? 1;
  if (count <= 1) return rows;
  if (sourceCount > 1) throw badRequest(`-n ${count} with ${sourceCount} input sources; expected one source`);
  return Array.from({ length: Math.ceil(rows.length / count) }, (_, index) =>
    rows.slice(index * count, (index + 1) * count).flat(),
  );
}
