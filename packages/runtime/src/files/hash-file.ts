import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import type { Content } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import { fsPath } from './byte-names.ts';
import { fileError } from './file-errors.ts';
import { openRegular } from './open-regular.ts';

const chunkBytes = 1024 * 1024;

/**
 * The content of a file: its hash and size. Reads one piece ahead while it hashes, and holds two pieces of a mebibyte.
 *
 * @param bytesMax hash only this many bytes from the start.
 * @throws {MutiraoError} MUT_FILE_NOT_FOUND
 */
export async function hashFile(path: string, bytesMax: Bytes = Infinity): Promise<Content> {
  try {
    await using file = await open(fsPath(path), 'r');
    return await hashHandle(file, bytesMax);
  } catch (error) {
    throw fileError(error, path);
  }
}

/** As `hashFile`, of a file that another process named: a link is not followed, and only a regular file is read. */
export async function hashRegular(path: string, size?: Bytes): Promise<Content> {
  await using file = await openRegular(path, size);
  return await hashHandle(file);
}

/** The content of an open file that has not been read yet. Moves its position to the end. */
export async function hashHandle(file: FileHandle, bytesMax: Bytes = Infinity): Promise<Content> {
  const hash = createHash('sha256');
  const { size: expected } = await file.stat();
  const length = Math.max(4096, Math.min(chunkBytes, expected));
  let current = Buffer.allocUnsafe(length);
  let next = Buffer.allocUnsafe(length);
  let size = 0;
  let { bytesRead } = await file.read(current, 0, Math.min(length, bytesMax), null);
  while (bytesRead > 0) {
    size += bytesRead;
    const ahead = file.read(next, 0, Math.min(length, bytesMax - size), null);
    hash.update(current.subarray(0, bytesRead));
    [current, next] = [next, current];
    ({ bytesRead } = await ahead);
  }
  return { sha256: hash.digest('hex'), size };
}
