import { removedFolder, removeUnderOtherName } from '../files/removed-folder.ts';
import { removeTree } from '../files/removal/remove-tree.ts';

/**
 * The program with which a watchdog removes folders: `rm -rf` would delete what a task left mounted in one. What stays
 * is found by the next agent of the host.
 *
 * @param argv the folders.
 */
export function main(argv: readonly string[]): Promise<void> {
  for (const folder of argv) {
    removeUnderOtherName(folder);
    removeTree(removedFolder(folder)); // Left by a removal that was killed.
  }
  return Promise.resolve();
}

if (import.meta.main) await main(process.argv.slice(2));
