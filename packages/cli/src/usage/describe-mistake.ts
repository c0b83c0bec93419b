import type { Argument, Command, CommanderError } from 'commander';

import { findNearestWord } from '@mutirao/core/shared';

import { completeSubmission } from './complete-submission.ts';
import { findForeignCommand, showCommand, type ForeignCommand } from './foreign-commands.ts';
import { scanOptions, translatePieces, type Piece } from './scan-options.ts';

/** A command line that could not be read. */
export interface Mistake {
  readonly error: CommanderError;
  /** The words before `--`. */
  readonly words: readonly string[];
  /** The words after it; undefined where there is none. */
  readonly passedOn: readonly string[] | undefined;
  /** The whole tree of commands; of the one that was called the options are known. */
  readonly program: Command;
  /** The words of the command that was called; undefined for an unknown one. */
  readonly path: readonly string[] | undefined;
  /** Adds the options of another command to the tree. */
  define(path: readonly string[], command: Command): Promise<void>;
}

/** What is wrong with a command line. */
export interface MistakeDescription {
  /** What was found and what was expected, in one sentence. */
  readonly message: string;
  /** The right command line; undefined where nobody knows. */
  readonly command: string | undefined;
  /** Further remarks for the user, a sentence each. */
  readonly notes: readonly string[];
}

/** Describes a mistake in the user's terms: what was found, what was expected, and the command line that is meant. */
export async function describeMistake(mistake: Mistake): Promise<MistakeDescription> {
  const { error, path, words } = mistake;
  const command = path === undefined ? undefined : findCommand(mistake.program, path);
  if (command === undefined || path === undefined) return describeUnknownCommand(mistake);
  if (words[0]?.startsWith('-') === true) return describeLeadingOptions(mistake, path);
  const own = words.slice(path.length);
  switch (error.code) {
    case 'commander.unknownOption':
      return describeUnknownOption(mistake, { command, path, pieces: scanOptions(command, path, own) });
    case 'commander.excessArguments':
      return describeExcess(mistake, { command, path, pieces: scanOptions(command, path, own) });
    case 'commander.missingArgument':
      return describeMissingArgument(command, path);
    case 'commander.optionMissingArgument':
      return describeMissingValue(error, command);
    default:
      return plain(error.message.replace(/^error: /, '').replaceAll('\n', ' '));
  }
}

interface Scanned {
  readonly command: Command;
  readonly path: readonly string[];
  readonly pieces: readonly Piece[];
}

function plain(message: string, command?: readonly string[], notes: readonly string[] = []): MistakeDescription {
  return {
    message,
    command: command === undefined ? undefined : showCommand(command),
    notes: [...new Set(notes)].filter((note) => note !== ''),
  };
}

function findCommand(program: Command, path: readonly string[]): Command | undefined {
  return path.reduce<Command | undefined>(
    (parent, word) => parent?.commands.find((one) => one.name() === word),
    program,
  );
}

const withRest = (passedOn: readonly string[] | undefined): readonly string[] =>
  passedOn === undefined ? [] : ['--', ...passedOn];

async function describeUnknownCommand(mistake: Mistake): Promise<MistakeDescription> {
  const { program, words } = mistake;
  if (words[0]?.startsWith('-') === true) return describeLeadingOptions(mistake, undefined);
  const foreign = findForeignCommand(
    words.filter((word) => !word.startsWith('-')),
    (pair) => findCommand(program, pair) !== undefined,
  );
  const [first = ''] = words;
  const group = program.commands.find((one) => one.name() === first && one.commands.length > 0);
  // The words up to the one that is wrong.
  const said = group === undefined ? [first] : words.slice(0, 2);
  if (foreign !== undefined) return describeForeign(mistake, said.join(' '), foreign);
  return first === 'run' ? describeRun(mistake) : describeSlip(mistake, said, group ?? program);
}

/** `mutirao run COMMAND`, as other systems start a job. */
async function describeRun(mistake: Mistake): Promise<MistakeDescription> {
  const { words, passedOn } = mistake;
  const found = words[1] ?? passedOn?.[0] ?? '';
  return plain(
    `"mutirao run" starts a process of the grid, and there is none named "${found}"; a command for the machines ` +
      'is submitted as a job',
    await getSubmission(mistake, words.slice(1)),
  );
}

/** A word that no command has, in a group or at the beginning. */
function describeSlip({ words, passedOn }: Mistake, said: readonly string[], group: Command): MistakeDescription {
  const known = group.commands.map((one) => one.name()).filter((name) => !oldWords.includes(name));
  const isInGroup = group.parent !== null;
  const before = isInGroup ? words.slice(0, 1) : [];
  const nearest = findNearestWord(words[before.length] ?? '', known);
  if (nearest === undefined)
    return plain(
      `unknown command "${said.join(' ')}"; expected ${isInGroup ? `${before.join(' ')} and ` : ''}one of ` +
        `${known.join(', ')}`,
    );
  const meant = [...before, nearest];
  return plain(`unknown command "${said.join(' ')}"; did you mean "${meant.join(' ')}"?`, [
    ...meant,
    ...words.slice(meant.length),
    ...withRest(passedOn),
  ]);
}

/** OurGrid's words, which are said elsewhere. */
const oldWords: readonly string[] = ['addjob', 'waitforjob', 'canceljob'];

/** The submission that is meant, with the options of `job submit` known. */
async function getSubmission(
  { program, passedOn, path, define }: Mistake,
  words: readonly string[],
): Promise<string[]> {
  const command = findCommand(program, ['job', 'submit']);
  if (command === undefined) return ['job', 'submit', ...words, ...withRest(passedOn)];
  if (path?.join(' ') !== 'job submit') await define(['job', 'submit'], command);
  return completeSubmission(command, words, passedOn);
}

async function describeForeign(
  mistake: Mistake,
  said: string,
  { count, command }: { readonly count: number; readonly command: ForeignCommand },
): Promise<MistakeDescription> {
  const { ours, argument, why } = command;
  const message = `unknown command "${said}"`;
  if (ours.length === 0) return plain(message, undefined, [why]);
  const placeholder = argument.split(' ').filter((word) => word !== '');
  const rest = mistake.words.slice(count);
  const names = ours.filter((word) => word !== '--');
  const isSubmission = names[0] === 'job' && names[1] === 'submit';
  const isEmpty = rest.length === 0 && mistake.passedOn === undefined;
  const line =
    isSubmission && !isEmpty
      ? await getSubmission(mistake, [...names.slice(2), ...rest])
      : [...ours, ...(rest.length > 0 ? rest.map(readNumber) : placeholder)];
  return plain(`${message}; the command is "mutirao ${names.slice(0, 2).join(' ')}"`, line, [why]);
}

/** `job-3` and `#3` are written as numbers. */
function readNumber(word: string): string {
  return /^(?:#|job[-_/]?|j)(\d+)$/i.exec(word)?.[1] ?? word;
}

function describeLeadingOptions(
  { words, passedOn, program }: Mistake,
  path: readonly string[] | undefined,
): MistakeDescription {
  const at = words.findIndex((word) => program.commands.some((one) => one.name() === word));
  if (at < 0) return plain(`unknown option "${words[0] ?? ''}" before a command; expected a command first`);
  const moved = [...words.slice(at), ...words.slice(0, at), ...withRest(passedOn)];
  return plain(
    `"${words[0] ?? ''}" comes before the command; options come after "mutirao ` +
      `${(path ?? words.slice(at, at + 1)).join(' ')}"`,
    moved,
  );
}

async function describeUnknownOption(mistake: Mistake, { path, pieces }: Scanned): Promise<MistakeDescription> {
  const { passedOn, words } = mistake;
  const unknown = pieces.filter((piece) => piece.kind === 'unknown');
  const isSubmission = path.join(' ') === 'job submit';
  const first = pieces.findIndex(({ kind }) => kind === 'operand');
  const isArgument = (piece: Piece): boolean =>
    piece.kind === 'unknown' && piece.instead === undefined && pieces.indexOf(piece) > first;
  if (isSubmission && first >= 0 && unknown.some(isArgument))
    return describeMissingDashes(mistake, pieces[first]?.words[0] ?? '');
  const names = unknown.map(
    ({ name, instead }) =>
      `"${name}"${isOption(instead?.[0]) ? ` (here ${(instead ?? []).filter(isOption).join(' and ')})` : ''}`,
  );
  const line = isSubmission
    ? await getSubmission(mistake, words.slice(2))
    : [...path, ...translatePieces(pieces), ...withRest(passedOn)];
  const isKnown = unknown.every(({ instead }) => instead !== undefined);
  return plain(
    `unknown option${unknown.length === 1 ? '' : 's'} ${names.join(', ')} of "mutirao ${path.join(' ')}"`,
    isKnown ? line : undefined,
    unknown.map(({ why }) => why),
  );
}

const isOption = (word: string | undefined): boolean => word?.startsWith('-') === true;

/** `job submit ./sim --seed 1`: the command must come after `--`. */
async function describeMissingDashes(mistake: Mistake, file: string): Promise<MistakeDescription> {
  return plain(
    `"${file}" is read as the name of a job file; expected "--" before a command and its arguments`,
    await getSubmission(mistake, mistake.words.slice(2)),
  );
}

async function describeExcess(mistake: Mistake, { command, path, pieces }: Scanned): Promise<MistakeDescription> {
  if (path.join(' ') === 'job submit')
    return describeMissingDashes(mistake, pieces.find(({ kind }) => kind === 'operand')?.words[0] ?? '');
  const operands = pieces.filter(({ kind }) => kind === 'operand').flatMap((piece) => piece.words);
  const options = pieces.filter(({ kind }) => kind !== 'operand').flatMap((piece) => piece.words);
  const expected = command.registeredArguments;
  const found =
    `"mutirao ${path.join(' ')}" takes ${showCount(expected.length, 'argument')}, and ` +
    `${operands.length === 1 ? '1 is' : `${operands.length} are`} given: ${operands.join(' ')}`;
  if (path.join(' ') === 'status') return plain(found, ['job', 'show', ...mistake.words.slice(1).map(readNumber)]);
  const last = expected.at(-1);
  if (
    last === undefined ||
    !isSelector(last) ||
    !operands.slice(expected.length - 1).every((word) => /^[\d,:-]+$/.test(word))
  )
    return plain(found);
  const joined = [...operands.slice(0, expected.length - 1), operands.slice(expected.length - 1).join(',')];
  return plain(`${found}. Several numbers are written as one argument`, [...path, ...joined, ...options]);
}

function showCount(count: number, noun: string): string {
  return count === 0 ? `no ${noun}` : `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Jobs and tasks are selected by their arguments of these names. */
const isSelector = (argument: Argument): boolean => ['jobs', 'tasks'].includes(argument.name());

function describeMissingArgument(command: Command, path: readonly string[]): MistakeDescription {
  const missing = command.registeredArguments.filter(({ required }) => required);
  const wanted = missing
    .map((argument) => `<${argument.name()}>${argument.description === '' ? '' : ` (${argument.description})`}`)
    .join(' ');
  const example = missing.every((argument) => isSelector(argument) || argument.name() === 'job')
    ? [...path, ...missing.map(() => '5')]
    : undefined;
  return plain(`"mutirao ${path.join(' ')}" needs ${wanted}`, example);
}

function describeMissingValue(error: CommanderError, command: Command): MistakeDescription {
  const flagsOf = /option '([^']*)'/.exec(error.message)?.[1] ?? '';
  const option = command.options.find(({ flags }) => flags === flagsOf);
  return plain(
    `${option?.long ?? flagsOf} has no value; expected ` +
      `${option === undefined ? 'one' : `${flagsOf}: ${option.description}`}`,
  );
}
