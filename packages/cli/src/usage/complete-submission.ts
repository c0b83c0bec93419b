import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';

import { detectFormat } from '@mutirao/formats';

import { refuseScript } from '../commands/job/script-file.ts';
import { joinUnits } from './join-units.ts';
import { scanOptions, translatePieces } from './scan-options.ts';
import { UsageError } from './usage-error.ts';

const headBytes = 65_536;

/**
 * Completes a command line of `job submit`: options of other systems become ours, and `--` comes before a command that
 * stands in the place of a job file.
 *
 * @param words after `job submit`, without those after `--`.
 */
export function completeSubmission(
  command: Command,
  words: readonly string[],
  passedOn: readonly string[] | undefined,
): string[] {
  const pieces = scanOptions(command, ['job', 'submit'], splitParallel(joinUnits(words)));
  const translated = scanOptions(command, ['job', 'submit'], translatePieces(pieces));
  const first = translated.findIndex(({ kind }) => kind === 'operand');
  const own = translated.flatMap((piece) => piece.words);
  if (passedOn !== undefined) return line([...own, '--', ...passedOn]);
  if (first < 0) return line(own);
  const before = translated.slice(0, first).flatMap((piece) => piece.words);
  const after = translated.slice(first).flatMap((piece) => piece.words);
  const [file = ''] = after;
  const text = readHead(file);
  if (text === undefined) return line([...before, '--', ...after]);
  const isJobFile = detectFormat(text) !== 'unknown';
  return rewriteScript(file, text, { own, isJobFile }) ?? line(isJobFile ? own : [...before, '--', ...after]);
}

const line = (words: readonly string[]): string[] => ['job', 'submit', ...words];

/** The submission of a script in the place of a job file; undefined if the file is not a script. */
function rewriteScript(
  file: string,
  text: string,
  { own, isJobFile }: { readonly own: readonly string[]; readonly isJobFile: boolean },
): string[] | undefined {
  try {
    refuseScript(file, text, isJobFile);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError && error.remedy.rewrite !== undefined)
      return [...error.remedy.rewrite(splitAt(line(own), file))];
    throw error;
  }
}

/** What follows the operand are the arguments of the script; options of Mutirao stay before it. */
function splitAt(words: readonly string[], file: string): string[] {
  const at = words.indexOf(file) + 1;
  return at === words.length ? [...words] : [...words.slice(0, at), '--', ...words.slice(at)];
}

/** GNU parallel lists values after `:::`. */
function splitParallel(words: readonly string[]): string[] {
  const at = words.indexOf(':::');
  if (at < 0) return [...words];
  const command = words.slice(0, at);
  return [
    '--values',
    words.slice(at + 1).join(','),
    ...command,
    ...(command.some((word) => word.includes('{}')) ? [] : ['{}']),
  ];
}

function readHead(file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(resolve(file), 'r');
  } catch {
    return undefined; // A command that is looked up, or nothing.
  }
  try {
    const buffer = Buffer.alloc(headBytes);
    return buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, headBytes, 0));
  } catch {
    return undefined; // A folder.
  } finally {
    closeSync(descriptor);
  }
}
