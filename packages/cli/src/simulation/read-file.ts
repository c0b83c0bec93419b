import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

import { MutiraoError, type ErrorCode } from '@mutirao/api/errors';

/** The first two bytes of a gzip file, the first one high. */
export const gzipMagic = 0x1f8b;

/**
 * Reads a file, gzipped or not.
 *
 * @param file as the user named it. @param brokenCode of broken gzip. @throws {MutiraoError} MUT_FILE_NOT_FOUND,
 * MUT_BAD_REQUEST, `brokenCode`
 */
export function readPacked(file: string, path: string, brokenCode?: ErrorCode): Buffer {
  try {
    const bytes = readFileSync(path);
    return bytes.length > 1 && bytes.readUInt16BE(0) === gzipMagic ? gunzipSync(bytes) : bytes;
  } catch (error) {
    throw readingError(file, error as Error, brokenCode);
  }
}

/** Turns what a file could not be read for into what its user can mend; any other error comes back as it is. */
export function readingError(
  file: string,
  error: NodeJS.ErrnoException,
  brokenCode: ErrorCode = 'MUT_BAD_REQUEST',
): Error {
  const { code, message } = error;
  if (code === undefined) return error;
  if (code === 'ENOENT') return new MutiraoError('MUT_FILE_NOT_FOUND', `there is no file ${file}`, { cause: error });
  if (code.startsWith('Z_'))
    return new MutiraoError(brokenCode, `${file} begins as a gzip file and is none: ${message}`, { cause: error });
  return new MutiraoError('MUT_BAD_REQUEST', `cannot read ${file}: ${message}`, { cause: error });
}
