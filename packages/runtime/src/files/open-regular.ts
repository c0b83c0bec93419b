import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { MutiraoError } from '@mutirao/api/errors';
import type { Bytes } from '@mutirao/core/shared';
import { fsPath } from './byte-names.ts';
import { fileError } from './file-errors.ts';

/** Flags with which a file is opened that somebody else named: a link is not followed, and a FIFO does not block. */
const readNamedFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a file that another process named: a regular file, and not by a link.
 *
 * @param size that it must have.
 * @throws {MutiraoError} MUT_FILE_NOT_FOUND for anything else; Error of the file system.
 */
export async function openRegular(path: string, size?: Bytes): Promise<FileHandle> {
  const file = await open(fsPath(path), readNamedFlags).catch((error: unknown) => {
    throw openError(error, path);
  });
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new MutiraoError('MUT_FILE_NOT_FOUND', `${path} is not a regular file`);
    if (size !== undefined && status.size !== size)
      throw new MutiraoError('MUT_FILE_NOT_FOUND', `${path} has ${status.size} bytes; expected ${size}`);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The bytes of a small file; as `openRegular`, without waiting. */
export function readRegular(path: string): Buffer {
  let file: number;
  try {
    file = openSync(fsPath(path), readNamedFlags);
  } catch (error) {
    throw openError(error, path);
  }
  try {
    if (!fstatSync(file).isFile()) throw new MutiraoError('MUT_FILE_NOT_FOUND', `${path} is not a regular file`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function openError(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ELOOP' || code === 'ENXIO' || code === 'EMLINK')
    return new MutiraoError('MUT_FILE_NOT_FOUND', `${path} is not a regular file`, { cause: error });
  return fileError(error, path);
}
