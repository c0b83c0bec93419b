import { renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { removeTree, type Removal } from './removal/remove-tree.ts';

const removedPrefix = '.removed-';

/**
 * The name of a folder while it is removed, so that a process that is killed in between leaves nothing that looks like
 * a folder in use.
 */
export function removedFolder(folder: string): string {
  return join(dirname(folder), `${removedPrefix}${basename(folder)}`);
}

/** Whether a name is that of a folder that was being removed. */
export function isRemoved(name: string): boolean {
  return name.startsWith(removedPrefix);
}

/** Removes a folder under another name first, since one of its name may be made again meanwhile. Never throws. */
export function removeUnderOtherName(folder: string): Removal {
  let removed = removedFolder(folder);
  try {
    renameSync(folder, removed);
  } catch (error) {
    // Not looked for again: one of its name may be made at any moment.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { isComplete: true, left: [], leftCount: 0 };
    removed = folder; // It is a mount point, or one of that other name was left.
  }
  return removeTree(removed);
}
