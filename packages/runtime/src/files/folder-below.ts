import { constants } from 'node:fs';
import { lstat, mkdir, open, readlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesOfName, nameOfBytes } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { pathAt } from './removal/file-calls.ts';

/** Linux's O_PATH, which Node does not name. */
const pathOnly = 0o10000000;
const folderFlags = pathOnly | constants.O_DIRECTORY;

/** A folder that is held open: nobody can put a link in its place while it is used. */
export interface HeldFolder {
  /** Where it is, without links on the way. */
  readonly path: string;
  /** The path of a name in it, for the functions of `node:fs`. It is the caller's to follow no link at that name. */
  entry(name: string): Buffer;
}

/**
 * Runs an action with a folder below another one, and creates missing folders. Follows links on the way to `root`, and
 * none below it.
 *
 * @param names a name each: neither empty, `.` nor `..`, and without a slash or a NUL.
 * @throws {MutiraoError} MUT_PATH_ESCAPES if one of them is a link or not a plain name. Errors of the file system, and
 * what `act` throws.
 */
export async function inFolderBelow<T>(
  root: string,
  names: readonly string[],
  act: (folder: HeldFolder) => Promise<T>,
): Promise<T> {
  const isolated = names.find((name) => !isPlainName(name));
  if (isolated !== undefined)
    throw new MutiraoError('MUT_PATH_ESCAPES', `${JSON.stringify(isolated)} is not the name of a folder in ${root}`);
  await mkdir(bytesOfName(root), { recursive: true });
  let folder = await open(Buffer.concat([bytesOfName(root), Buffer.from('/.')]), folderFlags);
  try {
    for (const [index, name] of names.entries()) {
      const next = await enter(folder, name, () => join(root, ...names.slice(0, index + 1)));
      await folder.close();
      folder = next;
    }
    const { fd } = folder;
    const path = nameOfBytes(await readlink(pathAt(fd), { encoding: 'buffer' }));
    return await act({ path, entry: (name) => pathAt(fd, bytesOfName(name)) });
  } finally {
    await folder.close();
  }
}

/** Whether a text is the name of one entry of a folder. */
export function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0');
}

async function enter(folder: FileHandle, name: string, shown: () => string): Promise<FileHandle> {
  const path = pathAt(folder.fd, bytesOfName(name));
  const enterNow = (): Promise<FileHandle> => open(path, folderFlags | constants.O_NOFOLLOW);
  try {
    return await enterNow().catch(async (error: unknown) => {
      if (getCode(error) !== 'ENOENT') throw error;
      await mkdir(path).catch((cause: unknown) => {
        if (getCode(cause) !== 'EEXIST') throw cause;
      });
      return await enterNow();
    });
  } catch (error) {
    const isLink =
      ['ELOOP', 'ENOTDIR'].includes(getCode(error)) &&
      (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true;
    if (isLink)
      throw new MutiraoError('MUT_PATH_ESCAPES', `${shown()} is a link, and no link is followed there`, {
        cause: error,
      });
    throw error;
  }
}

function getCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
