import { mkdirSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { mendFolder } from './make-folder.ts';
import { removeTree, type Removal } from './removal/remove-tree.ts';

/** More names than leftovers that cannot be removed will ever take. */
const namesMax = 1000;

/**
 * Makes a new folder, for this user alone, after removing what a former process left there. Where that cannot be
 * removed, since something is mounted in it, say, the
 * folder has another name: `NAME-1`, and so on.
 *
 * @throws Error of the file system where no folder can be made.
 */
export function makeFreshFolder(path: string, onLeft: (removal: Removal) => void = () => undefined): string {
  removeFreshFolders(path, onLeft);
  return makeNextFolder(path);
}

/** Removes a folder of `makeFreshFolder`, and its other names. Never throws. */
export function removeFreshFolders(path: string, onLeft: (removal: Removal) => void = () => undefined): void {
  for (const name of listNames(path)) {
    const removal = removeTree(join(dirname(path), name));
    if (!removal.isComplete) onLeft(removal);
  }
}

/**
 * Makes the folder under the first name that is free, and removes nothing. @throws Error of the file system where no
 * folder can be made.
 */
export function makeNextFolder(path: string): string {
  mendFolder(dirname(path));
  for (let number = 0; ; number++) {
    const folder = number === 0 ? path : `${path}-${number}`;
    try {
      mkdirSync(folder, { mode: 0o700 });
      return folder;
    } catch (error) {
      if (number >= namesMax || (error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function listNames(path: string): string[] {
  const name = basename(path);
  try {
    return readdirSync(dirname(path)).filter((one) => one.startsWith(name) && /^(-\d+)?$/.test(one.slice(name.length)));
  } catch {
    return [];
  }
}
