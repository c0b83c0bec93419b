import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** One figure of a benchmark. */
export interface Figure {
  readonly name: string;
  /** With its unit in `unit`. */
  readonly value: number;
  readonly unit: string;
  /** What was aimed at, as people say it; empty where nothing was. */
  readonly aim: string;
  /** Whether the aim was met; undefined without one. */
  readonly met: boolean | undefined;
}

/** A figure whose aim is to be at least `least`. */
export function atLeast(name: string, value: number, unit: string, least: number): Figure {
  return { name, value: rounded(value), unit, aim: `>= ${least}`, met: value >= least };
}

/** A figure whose aim is to be below `most`. */
export function below(name: string, value: number, unit: string, most: number): Figure {
  return { name, value: rounded(value), unit, aim: `< ${most}`, met: value < most };
}

/** A figure whose aim is to be nearer to 0 than `most`, on either side. */
export function within(name: string, value: number, unit: string, most: number): Figure {
  return { name, value: rounded(value), unit, aim: `within +-${most}`, met: Math.abs(value) < most };
}

/** A figure without an aim, for comparison. */
export function plain(name: string, value: number, unit: string): Figure {
  return { name, value: rounded(value), unit, aim: '', met: undefined };
}

/** Prints a table on standard error and JSON on standard output. */
export function report(benchmark: string, figures: readonly Figure[]): void {
  const machine =
    `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ` +
    `${process.version}`;
  console.log(JSON.stringify({ benchmark, machine, figures }));
  console.error(`${benchmark} (${machine})`);
  for (const { name, value, unit, aim, met } of figures) {
    const verdict = met === undefined ? '' : `  aim ${aim}: ${met ? 'met' : 'MISSED'}`;
    console.error(`  ${name.padEnd(58)} ${String(value).padStart(12)} ${unit}${verdict}`);
  }
}

/** Resident memory of a process now, in MiB. */
export function residentMebibytes(pid: number): number {
  const [, kibibytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}

/**
 * Watches resident memory of processes until stopped, and answers the peak of each above what it was at first, in MiB.
 */
export function watchMemory(pids: Readonly<Record<string, number>>): () => Record<string, number> {
  const idle = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, residentMebibytes(pid)]));
  const peak = { ...idle };
  const look = (): void => {
    for (const [name, pid] of Object.entries(pids)) peak[name] = Math.max(peak[name] ?? 0, residentMebibytes(pid));
  };
  const timer = setInterval(look, 20);
  return () => {
    clearInterval(timer);
    look();
    return Object.fromEntries(Object.entries(peak).map(([name, mebibytes]) => [name, mebibytes - (idle[name] ?? 0)]));
  };
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/** A whole number from `--name N` on the command line. */
export function option(name: string, fallback: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}

/** Seconds that a command took. */
export function findSeconds(command: string, args: readonly string[]): number {
  const start = performance.now();
  execFileSync(command, args, { stdio: 'ignore' });
  return (performance.now() - start) / 1000;
}

function rounded(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}
