import { readdirSync, readFileSync } from 'node:fs';

/** One process as /proc lists it. */
export interface ProcessRow {
  readonly pid: number;
  /** Its parent; another process adopts it when that ends. */
  readonly ppid: number;
  readonly pgid: number;
  /** Ticks of 10 ms after boot, rounded down. */
  readonly startedTicks: number;
  readonly residentBytes: number;
  /** Processor time that it has used, in milliseconds, to 10 ms. */
  readonly processorMs: number;
  /** Processor time of its children that have ended, and of theirs; as above. */
  readonly waitedMs: number;
}

/** Reads the live processes of this host; empty where there is no /proc. Cost: one small file per process. */
export function readProcesses(): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const name of listProc()) {
    if (!/^\d/.test(name)) continue;
    const row = readProcess(name);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** Reads one process; undefined for one that is gone or a zombie. */
export function readProcess(pid: number | string): ProcessRow | undefined {
  return parseStat(readOr(`/proc/${pid}/stat`));
}

/** The variables that a process was started with; empty when it is gone, or somebody else's. */
export function readEnvironment(pid: number): Map<string, string> {
  const variables = new Map<string, string>();
  for (const entry of readOr(`/proc/${pid}/environ`).split('\0')) {
    const end = entry.indexOf('=');
    if (end > 0) variables.set(entry.slice(0, end), entry.slice(end + 1));
  }
  return variables;
}

/** Parses /proc/PID/stat; undefined for a process that is gone or a zombie. */
export function parseStat(text: string): ProcessRow | undefined {
  // The name, in parentheses, may hold blanks and parentheses itself.
  const end = text.lastIndexOf(')');
  if (end < 0) return undefined;
  const fields = text.slice(end + 2).split(' ');
  const state = fields[0];
  if (state === 'Z' || state === 'X') return undefined;
  return {
    pid: Number.parseInt(text, 10),
    ppid: Number(fields[1]),
    pgid: Number(fields[2]),
    startedTicks: Number(fields[19]),
    residentBytes: Number(fields[21]) * pageBytes(),
    processorMs: 10 * (Number(fields[11]) + Number(fields[12])),
    waitedMs: 10 * (Number(fields[13]) + Number(fields[14])),
  };
}

/** Milliseconds since boot, to 10 ms; undefined where there is no /proc. */
export function readUptime(): number | undefined {
  try {
    return Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1000;
  } catch {
    return undefined;
  }
}

const known = { pageBytes: 0 };

function pageBytes(): number {
  if (known.pageBytes === 0) {
    const line = /KernelPageSize:\s+(\d+) kB/.exec(readOr('/proc/self/smaps'));
    known.pageBytes = Number(line?.[1] ?? 4) * 1024;
  }
  return known.pageBytes;
}

function listProc(): string[] {
  try {
    return readdirSync('/proc');
  } catch {
    return [];
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // It ended between the listing and now.
  }
}
