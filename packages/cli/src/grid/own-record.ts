import { readFileSync, rmSync } from 'node:fs';

import { gridRecordPath, type GridRecord } from './record.ts';

/** Between two looks at the record. */
const lookInterval = 5000;
/** An update of the record replaces it, and some shared file systems show nothing there for a moment. */
const missesMax = 3;

/**
 * Resolves when the record of this process's grid has gone: somebody has removed the home folder, unmounted it, or
 * begun another grid in its place. Nobody could find the grid any more, nor stop it.
 *
 * A file system that only fails to answer has lost nothing. Resolves also when `signal` aborts.
 */
export async function untilRecordLost(
  home: string,
  pid: number,
  { signal, sleep }: { readonly signal: AbortSignal; sleep(durationMs: number): Promise<void> },
): Promise<void> {
  for (let misses = 0; misses < missesMax && !signal.aborted; misses = isLost(home, pid) ? misses + 1 : 0)
    await sleep(lookInterval);
}

/** Removes the record of this process's grid; that of another grid stays. */
export function removeOwnRecord(home: string, pid: number): void {
  if (!isLost(home, pid)) rmSync(gridRecordPath(home), { force: true });
}

function isLost(home: string, pid: number): boolean {
  try {
    const record = JSON.parse(readFileSync(gridRecordPath(home), 'utf8')) as Partial<GridRecord>;
    return record.pid !== pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
