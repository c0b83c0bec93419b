import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { openUpFolder, removeTree } from './removal/remove-tree.ts';

/**
 * Makes sure that a folder exists which we may use, also where a task or a cleaner of old files removed it or changed
 * its mode. Cheap where it is as it should be.
 *
 * @throws Error of the file system, also where something else has that name.
 */
export function makeFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) mkdirSync(path, { recursive: true, mode: 0o700 });
  else if ((found.mode & 0o700) !== 0o700) chmodSync(path, found.mode | 0o700);
}

/**
 * Does what needs one of our folders. Where that fails because the folder is gone, locked or replaced, makes the folder
 * again and does it once more. Free where all is well.
 *
 * @throws what `act` throws, or Error of the file system.
 */
export async function inFolder<T>(folder: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    mendFolder(folder);
    return await act();
  }
}

/**
 * Gives us back one of our folders and the one above it: lets us in, and makes what is missing; a file or a link that
 * leads nowhere makes way. @throws Error of the file system.
 */
export function mendFolder(folder: string): void {
  for (const path of [dirname(folder), folder]) openUpFolder(path);
  for (const path of [dirname(folder), folder]) if (!isFolder(path)) removeTree(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
