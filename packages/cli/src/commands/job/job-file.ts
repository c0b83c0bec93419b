import { existsSync, readFileSync } from 'node:fs';
import { dirname, parse, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { JobSpec } from '@mutirao/core/messages';
import { decodeText, detectFormat, parseJdf } from '@mutirao/formats';
import { makeWorkflowJob, parseWorkflow } from '@mutirao/formats/workflow';

import { refuseScript } from './script-file.ts';

/**
 * Reads a text file.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST when it cannot be read. @throws {FormatError} if it is not text.
 */
export function readText(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      code === 'ENOENT' ? `there is no file ${path}` : `cannot read ${path}: ${message}`,
      { cause: error },
    );
  }
  return decodeText(bytes, path);
}

/** Reads all of standard input as text. @throws {FormatError} when it is not text. */
export function readStandardInput(): string {
  return decodeText(readInput(), 'standard input');
}

function readInput(): Buffer {
  try {
    // The descriptor may be non-blocking; a new one can be read to its end.
    return readFileSync('/dev/stdin');
  } catch {
    // Another account's pipe, and any socket, cannot be opened again.
    return readFileSync(0);
  }
}

/** Refuses a script in the place of a job file, whatever else is wrong. @throws {UsageError} */
export function refuseScriptAt(file: string, directory: string): void {
  const path = resolve(directory, file);
  if (!existsSync(path)) return;
  const text = readText(path);
  refuseScript(file, text, detectFormat(text) !== 'unknown');
}

/** How a job file is read. */
export interface JobFileOptions {
  /** Relative paths of files begin there. */
  readonly directory: string;
  /** The command of a workflow's tasks that have none. */
  readonly taskCommand?: string | undefined;
  /** Whether that takes the place of the commands that the file has. */
  readonly replaceCommands?: true | undefined;
}

const workflowFormats: readonly string[] = ['workflow', 'wfformat', 'json', 'dax', 'xml'];

/**
 * Reads a job file: a bag (JDF) or a workflow. The format is found from its content; what is in another format is
 * refused with that format's name. A workflow without a name is called as its file, so that another submission of it
 * finds this one.
 *
 * @param warn gets each thing that was understood but is suspicious.
 * @throws {FormatError} naming file, line and column.
 */
export function readJobFile(
  file: string,
  { directory, taskCommand, replaceCommands }: JobFileOptions,
  warn: (line: string) => void,
): JobSpec {
  if (replaceCommands === true && taskCommand === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      '--replace-commands is given without --task-command; expected the command that replaces those of the file',
    );
  const path = resolve(directory, file);
  const text = readText(path);
  const format = detectFormat(text);
  refuseScript(file, text, format !== 'unknown');
  if (workflowFormats.includes(format)) {
    const { job, warnings } = makeWorkflowJob(parseWorkflow(text, file), {
      directory: dirname(path),
      taskCommand,
      replacesCommands: replaceCommands,
    });
    for (const warning of warnings) warn(`warning: ${file}: ${warning}`);
    return { ...job, label: job.label === '' ? parse(path).name : job.label };
  }
  if (taskCommand !== undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', `--task-command applies to workflow files, and ${file} is not one`);
  const { job, warnings } = parseJdf(text, { file, directory: dirname(path) });
  for (const { line, column, message } of warnings) warn(`warning: ${file}:${line}:${column}: ${message}`);
  return job;
}
