import { accessSync, lstatSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { isFullDisk, writeAtomic } from '@mutirao/runtime/files';

import { OutputFailed } from './write-standard.ts';

/** Writes a file whose place a user chose, whole or not at all. @throws {MutiraoError} MUT_BAD_REQUEST where it cannot be written. */
export function writeNamed(path: string, text: string): void {
  orBadRequest(path, () => { writeAtomic(path, text, 0o644); });
}

/** The same, for a place that may be something else than a file, such as `/dev/stdout` or a link, which stays what it is. @throws {MutiraoError} MUT_BAD_REQUEST where it cannot be written. */
export function writeInPlace(path: string, text: string): void {
  orBadRequest(path, () => {
    accessSync(dirname(path)); // No folder is made for it.
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true) writeAtomic(path, text, 0o644);
    else writeFileSync(path, text);
  });
}

function orBadRequest(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (isFullDisk(error)) throw new OutputFailed(path, error as NodeJS.ErrnoException);
    throw new MutiraoError('MUT_BAD_REQUEST', `cannot write ${path}: ${(error as Error).message}`, { cause: error });
  }
}
