import { fstatSync, realpathSync, statSync, writeFileSync, type Stats } from 'node:fs';

import { MutiraoError } from '@mutirao/api/errors';
import { isFullDisk, writeAtomic } from '@mutirao/runtime/files';

import { OutputFailed, writeStandardOutput } from './write-standard.ts';

/**
 * Writes to a place that a user chose. A file is there whole or not at all; where a link leads to one, the link stays.
 * Pipes and devices are written to and never
 * replaced, and `/dev/stdout` is standard output, also where that is a file.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST where it cannot be written. @throws {OutputFailed} for a full disk. @throws
 * {OutputClosed} when the reader of standard output is gone.
 */
export function writeNamed(path: string, text: string): void {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && isStandardOutput(found)) writeStandardOutput(text);
    else if (found === undefined || found.isFile())
      writeAtomic(found === undefined ? path : realpathSync(path), text, 0o644);
    else writeFileSync(path, text);
  } catch (error) {
    throw asFailure(path, error);
  }
}

function isStandardOutput({ dev, ino }: Stats): boolean {
  try {
    const standard = fstatSync(1);
    return standard.dev === dev && standard.ino === ino;
  } catch {
    return false; // It is closed.
  }
}

function asFailure(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const failure: NodeJS.ErrnoException = error as Error;
  return isFullDisk(failure)
    ? new OutputFailed(path, failure)
    : new MutiraoError('MUT_BAD_REQUEST', `cannot write ${path}: ${failure.message}`, { cause: error });
}
