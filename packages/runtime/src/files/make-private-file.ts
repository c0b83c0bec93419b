import { chmodSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a file that only its owner may read, with its folder, unless it is there already.
 *
 * A link fails where the file is already there, so of processes that start at once the first one wins, and nobody ever
 * sees half a file.
 */
export function makePrivateFile(path: string, contents: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, contents, { mode: 0o600 });
  // A draft that a killed process of the same number left keeps its mode.
  chmodSync(draft, 0o600);
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
