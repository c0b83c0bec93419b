import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { fsPath } from '@mutirao/runtime/files';

/** One file to bring to its place. */
export interface Placing {
  /** Where its bytes are. */
  readonly source: string;
  readonly target: string;
  /** Permission bits. */
  readonly mode: number;
  /** Leave `source`: another file needs it too. */
  readonly isShared: boolean;
}

/**
 * Brings a file to its place at once and whole: whoever looks sees the former file or the new one.
 * Folders above are made. A move where both are on one file system, otherwise a copy.
 *
 * @throws {MutiraoError} MUT_CONTENT_NOT_FOUND when the bytes are gone, MUT_OUTPUT_FORBIDDEN when the place cannot be written.
 */
export async function putInPlace(placing: Placing): Promise<void> {
  try {
    await mkdir(fsPath(dirname(placing.target)), { recursive: true });
    if (!placing.isShared && (await move(placing))) return;
    await copy(placing);
    if (!placing.isShared) await rm(placing.source, { force: true });
  } catch (error) {
    if (await isAbsent(placing.source)) {
      throw new MutiraoError('MUT_CONTENT_NOT_FOUND', `the bytes of ${placing.target} are not here any more`, { cause: error });
    }
    throw new MutiraoError('MUT_OUTPUT_FORBIDDEN', `${placing.target} cannot be written: ${String(error)}`, { cause: error });
  }
}

/**
 * Where an output file goes: to `localPath`, or below it where it is one of a folder's files, or into it under its own
 * name where `localPath` is a folder.
 *
 * @throws {MutiraoError} MUT_PATH_ESCAPES when `below` leads out of `localPath`.
 */
export async function targetOf(localPath: string, remotePath: string, below: string): Promise<string> {
  if (below !== '') {
    const root = resolve(localPath);
    const target = resolve(root, below);
    if (!target.startsWith(root === sep ? sep : root + sep)) {
      throw new MutiraoError('MUT_PATH_ESCAPES', `${JSON.stringify(below)} leads out of ${localPath}`);
    }
    return target;
  }
  const isFolder = localPath.endsWith('/') || (await stat(localPath).catch(() => undefined))?.isDirectory() === true;
  return isFolder ? join(localPath, basename(remotePath)) : localPath;
}

/** False when the two are on different file systems. */
async function move({ source, target, mode }: Placing): Promise<boolean> {
  await chmod(source, mode);
  try {
    await rename(source, fsPath(target));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EXDEV') return false;
    throw error;
  }
}

/** The copy grows beside its place under a name that follows from the source's, which no two copies at a time share; and not from the target's, which may be as long as names can be. */
async function copy({ source, target, mode }: Placing): Promise<void> {
  const part = fsPath(join(dirname(target), `.mutirao-${basename(source)}.part`));
  try {
    await copyFile(source, part, constants.COPYFILE_FICLONE);
    await chmod(part, mode);
    await rename(part, fsPath(target));
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function isAbsent(path: string): Promise<boolean> {
  return await stat(path).then(() => false, () => true);
}
