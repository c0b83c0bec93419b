import { writeFileSync } from 'node:fs';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';

/** Writes a file whose place a user chose, whole or not at all. @throws {MutiraoError} MUT_BAD_REQUEST where it cannot be written. */
export function writeNamed(path: string, text: string): void {
  orBadRequest(path, () => { writeAtomic(path, text, 0o644); });
}

/** Writes it where it is, so that it may be something else than a file, such as `/dev/stdout`. @throws {MutiraoError} MUT_BAD_REQUEST where it cannot be written. */
export function writeInPlace(path: string, text: string): void {
  orBadRequest(path, () => { writeFileSync(path, text); });
}

function orBadRequest(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new MutiraoError('MUT_BAD_REQUEST', `cannot write ${path}: ${(error as Error).message}`, { cause: error });
  }
}
