import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

/** Suffixes of a database file and of those that SQLite creates next to it, with the same mode. */
const endings = ['', '-wal', '-shm', '-journal'] as const;

/**
 * Has a database be readable by its account alone, whether it is there already, from an earlier release say, or is
 * about to be made.
 *
 * A file that is there is not opened: closing it would release the locks that this process may hold on it. Never
 * throws: SQLite says better what is wrong with a path.
 */
export function ownDatabase(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    /* It is there, or cannot be made. */
  }
  for (const ending of endings) {
    try {
      const found = statSync(`${path}${ending}`, { throwIfNoEntry: false });
      if (found !== undefined && (found.mode & 0o077) !== 0) chmodSync(`${path}${ending}`, 0o600);
    } catch {
      /* It belongs to somebody else. */
    }
  }
}
