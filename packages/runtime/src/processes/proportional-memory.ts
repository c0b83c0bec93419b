import { readFileSync } from 'node:fs';

/** A process, with the memory that it has in use, shared or not. */
export interface ResidentProcess {
  readonly pid: number;
  readonly residentBytes: number;
}

/**
 * What processes hold together, where memory that several processes share counts once: forked children share most of
 * theirs with their parent.
 *
 * A process whose map cannot be read, as one of another account, counts with all of its resident memory. Cost: the
 * kernel walks the page tables of each process,
 * about a millisecond per 100 MiB.
 */
export function proportionalBytes(processes: readonly ResidentProcess[]): number {
  let bytes = 0;
  for (const { pid, residentBytes } of processes) bytes += readProportional(pid) ?? residentBytes;
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
function readProportional(pid: number): number | undefined {
  try {
    return parseRollup(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    return code === 'ESRCH' ? 0 : undefined;
  }
}

/** Parses /proc/PID/smaps_rollup; undefined where it has no such line. */
export function parseRollup(text: string): number | undefined {
  const [, kibibytes] = /^Pss:\s+(\d+) kB$/m.exec(text) ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
