import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { JobSpec } from '@mutirao/core/messages';
import { parseJdf } from '@mutirao/formats';

/** Reads a text file. @throws {MutiraoError} MUT_BAD_REQUEST when it cannot be read. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new MutiraoError('MUT_BAD_REQUEST', code === 'ENOENT' ? `there is no file ${path}` : `cannot read ${path}: ${message}`, { cause: error });
  }
}

/**
 * Reads a job file. That it is one is told by its content; what is in another format is refused with that format's name.
 *
 * @param warn gets each thing that was understood but is suspicious.
 * @throws {FormatError} naming file, line and column.
 */
export function readJobFile(file: string, directory: string, warn: (line: string) => void): JobSpec {
  const path = resolve(directory, file);
  const { job, warnings } = parseJdf(readText(path), { file, directory: dirname(path) });
  for (const { line, column, message } of warnings) warn(`warning: ${file}:${line}:${column}: ${message}`);
  return job;
}
