// Loaded into a server before its own modules (`node --expose-gc --import`). On SIGUSR2 it collects garbage and writes
// what its memory is made of into the file that
// MUTIRAO_BENCH_MEMORY names; where MUTIRAO_BENCH_SNAPSHOT is set it also writes a heap snapshot, at that path with a
// number behind it.
import { renameSync, writeFileSync } from 'node:fs';
import { getHeapSpaceStatistics, writeHeapSnapshot } from 'node:v8';

/** What a server says of its memory, in bytes. */
export interface MemoryAccount extends NodeJS.MemoryUsage {
  /** Committed for new objects, most of which die at once. */
  readonly newSpace: number;
  /** Committed for the others. */
  readonly oldSpaces: number;
  /** After a collection that also gives memory back, as V8 does when it is idle for long or short of memory. */
  readonly rssLeast: number;
}

const path = process.env['MUTIRAO_BENCH_MEMORY'] ?? '';
const collect = globalThis.gc as unknown as (options?: {
  readonly type: 'major';
  readonly flavor?: 'last-resort';
  readonly execution: 'sync';
}) => void;
let count = 0;

function spaces(isNew: boolean): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name.startsWith('new') === isNew)
    .reduce((sum, { space_size: size }) => sum + size, 0);
}

process.on('SIGUSR2', () => {
  collect({ type: 'major', execution: 'sync' });
  const usage = { ...process.memoryUsage(), newSpace: spaces(true), oldSpaces: spaces(false) };
  if (count > 0) collect({ type: 'major', flavor: 'last-resort', execution: 'sync' });
  writeFileSync(
    `${path}.part`,
    JSON.stringify({ ...usage, rssLeast: process.memoryUsage().rss } satisfies MemoryAccount),
  );
  count += 1;
  const snapshot = process.env['MUTIRAO_BENCH_SNAPSHOT'];
  if (snapshot !== undefined) writeHeapSnapshot(`${snapshot}-${count}.heapsnapshot`);
  renameSync(`${path}.part`, path);
});
