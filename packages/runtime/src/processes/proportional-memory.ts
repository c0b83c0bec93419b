import { existsSync, readFileSync } from 'node:fs';

/** A process, with the memory that it has in use, shared or not. */
export interface ResidentProcess {
  readonly pid: number;
  readonly residentBytes: number;
}

/** How often the shares are read where processes end meanwhile. */
const readingsMax = 3;

/**
 * What processes hold together, where memory that several processes share counts once: forked children share most of
 * theirs with their parent.
 *
 * A process whose map cannot be read, as one of another account, counts with all of its resident memory; one that has
 * ended counts with nothing. The shares are read again where a process has ended meanwhile, since what it shared then
 * counts twice: in its own share, and in the larger ones of those that are read after it. Cost: the kernel walks the
 * page tables of each process, about a millisecond per 100 MiB, at most three times.
 *
 * @param procfs the folder of the kernel's process tables.
 */
export function proportionalBytes(processes: readonly ResidentProcess[], procfs = '/proc'): number {
  let remaining = processes;
  let least = Number.POSITIVE_INFINITY;
  for (let reading = 1; reading <= readingsMax; reading++) {
    least = Math.min(least, sumShares(remaining, procfs));
    const left = remaining.filter(({ pid }) => existsSync(`${procfs}/${pid}`));
    if (left.length === remaining.length) break;
    remaining = left;
  }
  return least;
}

function sumShares(processes: readonly ResidentProcess[], procfs: string): number {
  let bytes = 0;
  for (const { pid, residentBytes } of processes) bytes += readShare(`${procfs}/${pid}`) ?? residentBytes;
  return bytes;
}

/** The most that a process has had resident; undefined where that cannot be read. */
export function readPeak(pid: number): number | undefined {
  try {
    return parsePeak(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Parses /proc/PID/status; undefined where it has no such line, as for a zombie. */
export function parsePeak(text: string): number | undefined {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(text) ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

/** Undefined where it cannot be read; 0 for a process that has ended. */
function readShare(folder: string): number | undefined {
  try {
    return parseRollup(readFileSync(`${folder}/smaps_rollup`, 'latin1'));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    // An old kernel has no such file for a process that is there.
    return code === 'ESRCH' || (code === 'ENOENT' && !existsSync(folder)) ? 0 : undefined;
  }
}

/** Parses /proc/PID/smaps_rollup; undefined where it has no such line. */
export function parseRollup(text: string): number | undefined {
  const [, kibibytes] = /^Pss:\s+(\d+) kB$/m.exec(text) ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
