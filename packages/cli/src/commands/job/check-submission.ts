import { existsSync, statSync } from 'node:fs';
import { normalize, resolve } from 'node:path';

import type { JobSpec, TaskGroup } from '@mutirao/core/messages';
import { parseTemplate } from '@mutirao/core/bag';
import { isProgram } from '@mutirao/runtime/processes';

import { readArray } from '../../usage/foreign-values.ts';
import { joinUnits } from '../../usage/join-units.ts';
import { UsageError } from '../../usage/usage-error.ts';

/** What of a submission's words is looked at. */
export interface SubmissionWords {
  readonly file: string | undefined;
  /** After `--`; empty where there are none. */
  readonly command: readonly string[];
  readonly array: string | undefined;
  readonly directory: string;
}

/**
 * Refuses words that were read as something that cannot be meant. @throws {UsageError} with the command line that is
 * meant.
 */
export function refuseMisread({ file, command, array, directory }: SubmissionWords): void {
  if (/%\d+$/.test(array ?? '')) {
    throw new UsageError(`--array is "${array ?? ''}"; expected numbers as in 1-1000, 0-90:10 or 1,3,5-8`, {
      rewrite: (words) => replaceArray(words, array ?? ''),
      notes: ['--running-max limits the tasks that run at once.'],
    });
  }
  if (file === undefined) return;
  const isThere = existsSync(resolve(directory, file));
  if (/^\d+$/.test(file) && !isThere) {
    throw new UsageError(
      `"${file}" is read as the name of a job file, and there is none; --wait and other options without a value ` +
        'take none',
      { rewrite: (words) => without(words, file) },
    );
  }
  if (/^(?:(?:[kmgt]i?)?b|[kmgtsh])$/i.test(file) && !isThere) {
    throw new UsageError(
      `"${file}" is read as the name of a job file, which does not exist; expected a unit directly after its ` +
        'number, as in 4GB',
      { rewrite: joinUnits },
    );
  }
  if (command.length > 0) {
    throw new UsageError(`"${file}" and a command after "--" are given; expected one of them`, {
      rewrite: (words) => {
        const rest = without(words, file);
        return [...rest.slice(0, rest.indexOf('--') + 1), file, ...command];
      },
    });
  }
}

/** The option with its value may be one word or two. */
function replaceArray(words: readonly string[], array: string): string[] {
  const joined = words.indexOf(`--array=${array}`);
  const at = joined < 0 ? words.indexOf('--array') : joined;
  const meant = readArray(array);
  const isLimited = words.some((word) => /^--running-max(?:=|$)/.test(word));
  return [...words.slice(0, at), ...(isLimited ? meant.slice(0, 2) : meant), ...words.slice(at + (joined < 0 ? 2 : 1))];
}

function without(words: readonly string[], word: string): string[] {
  const at = words.indexOf(word);
  return [...words.slice(0, at), ...words.slice(at + 1)];
}

const interpreters =
  /^(?:\/usr\/bin\/|\/bin\/)?(?:sh|bash|dash|zsh|python[\d.]*|perl|ruby|Rscript|julia|node|lua|octave)$/;

/** Options of `job submit` that nobody gives to a command by intent when they end its line. */
const ownOptions: readonly string[] = [
  '--wait',
  '--progress',
  '--array',
  '--each-line',
  '--values',
  '--put',
  '--get',
  '--label',
  '--replicas',
  '--retries',
  '--failures-max',
  '--running-max',
  '--priority',
  '--hold',
  '--requirements',
  '--limit-time',
  '--limit-memory',
  '--standalone',
];

/** Sentences about what is allowed and rarely meant, for a command after `--`. */
export function describeSuspicions(
  job: JobSpec,
  { command, directory, isInPlace }: Pick<SubmissionWords, 'command' | 'directory'> & { readonly isInPlace: boolean },
): string[] {
  const found: string[] = [];
  const [group] = job.groups;
  if (group === undefined || group.noOp) return found;
  const own = command.slice(1).filter((word) => ownOptions.includes(word.split('=')[0] ?? ''));
  if (own.length > 0)
    found.push(`${own.join(' and ')} after "--" is given to the command; options of "job submit" come before "--".`);
  if (group.values.kind === 'list' && group.values.values.length > 1 && !hasPlaceholder(group)) {
    found.push(
      'the command has no {}, so that every task does the same; {} stands for the value of the task and {#} for ' +
        'its index.',
    );
  }
  return isInPlace ? found : [...found, ...describeMissingFiles(group, command, directory)];
}

function hasPlaceholder({ command, check, inputs, outputs }: TaskGroup): boolean {
  const texts = [
    command,
    check,
    ...inputs.map(({ path }) => path),
    ...outputs.map(({ path, localPath }) => `${path} ${localPath}`),
  ];
  return texts.some((text) => parseTemplate(text).some(({ kind }) => kind !== 'text'));
}

/** Programs and scripts of the folder of submission that the command calls, and that no input brings. */
function describeMissingFiles(group: TaskGroup, command: readonly string[], directory: string): string[] {
  const words = command.length === 1 ? plainWords(command[0] ?? '') : command;
  const [first] = words;
  const called = findOwnFile(words, directory);
  if (called === undefined) return [];
  const name = normalize(called);
  const path = resolve(directory, called);
  if (
    !group.inputs.some(({ path: brought }) => name === normalize(brought) || name.startsWith(`${normalize(brought)}/`))
  ) {
    return [
      `tasks start in an empty folder, and ${called} is only here; bring it with --put ${name}, or start tasks ` +
        'here with --in-place',
    ];
  }
  if (called !== first || isProgram(path)) return [];
  return [`${called} is not executable: "chmod +x ${name}" makes it so, or name what runs it, as in "-- sh ${name}".`];
}

/** The program or script of this folder that the words call by a relative path. */
function findOwnFile([first = '', second = '']: readonly string[], directory: string): string | undefined {
  const called = interpreters.test(first) && !second.startsWith('-') ? second : first;
  const isRelative = called.startsWith('./') || called === second;
  if (!isRelative || /^(?:\/|\.\.|$)|[{$]/.test(called) || normalize(called).startsWith('..')) return undefined;
  return isFile(resolve(directory, called)) ? called : undefined;
}

/** The words of the first simple command of a line; none where only a shell knows. */
function plainWords(line: string): string[] {
  return /^[\w./=+:,@%\s{}#-]+/.exec(line)?.[0].trim().split(/\s+/) ?? [];
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
