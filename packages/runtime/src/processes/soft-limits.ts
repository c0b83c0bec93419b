import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { readProcess } from './process-table.ts';

/** Passes the limits of the user's shell on to agents, which restore them for tasks. */
const variable = 'MUTIRAO_TASK_LIMITS';

/** Limits that end or stop our own processes, by their names in /proc and at `prlimit`. */
const raised = {
  'Max cpu time': 'cpu',
  'Max file size': 'fsize',
  'Max data size': 'data',
  'Max processes': 'nproc',
  'Max address space': 'as',
} as const;

/**
 * Limits that tasks get back. Not that on processor time, which would end a shell that starts many tasks; nor that on
 * processes, which counts all of the account, our own threads too.
 */
const restored = ['as', 'data', 'fsize'] as const;

/** A limit of a process: numbers, or "unlimited". */
export interface Limit {
  readonly soft: string;
  readonly hard: string;
}

/** Parses /proc/PID/limits. */
export function parseProcessLimits(text: string): ReadonlyMap<string, Limit> {
  const lines = [...text.matchAll(/^(Max [a-z ]*[a-z]) +(\d+|unlimited) +(\d+|unlimited)/gm)];
  return new Map(lines.map(([, name = '', soft = '', hard = '']) => [name, { soft, hard }]));
}

/** The limits of this process, or of another one; empty where nobody knows. */
export function readProcessLimits(pid: number | 'self' = 'self'): ReadonlyMap<string, Limit> {
  try {
    return parseProcessLimits(readFileSync(`/proc/${pid}/limits`, 'latin1'));
  } catch {
    return new Map();
  }
}

/**
 * Raises the soft limits of this process, and so of what it starts, to the hard ones: a user's `ulimit -S -f` is meant
 * for programs that run wild, and would end a journal. Where the host has no `prlimit` all stays as it is.
 *
 * What they were is kept in the environment, for tasks. Node has raised that on open files before our code
 * runs; what it was is still that of the shell which started us.
 */
export function raiseSoftLimits(environment: Record<string, string | undefined> = process.env): void {
  const own = readProcessLimits();
  const low = Object.entries(raised).flatMap(([row, name]) => {
    const limit = own.get(row);
    return limit === undefined || limit.soft === limit.hard ? [] : [{ name, ...limit }];
  });
  const former = new Map(low.map(({ name, soft }) => [name as string, soft]));
  const files = readShellFiles(own.get('Max open files'));
  if (files !== undefined) former.set('nofile', files);
  try {
    if (low.length > 0)
      execFileSync(
        'prlimit',
        ['--pid', String(process.pid), ...low.map(({ name, hard }) => `--${name}=${hard}:${hard}`)],
        { stdio: 'ignore', timeout: 5000 },
      );
  } catch {
    return;
  }
  const known = new Map([...former, ...parseTaskLimits(environment[variable])]);
  if (known.size > 0) environment[variable] = [...known].map((pair) => pair.join('=')).join(',');
}

/** Words to put before the shell of tasks, and a line for it, so that tasks have the limits of the user's own shell. */
export interface TaskLimits {
  readonly prefix: readonly string[];
  readonly line: string;
}

/** What gives tasks back what `raiseSoftLimits` changed. */
export function findTaskLimits(environment: Readonly<Record<string, string | undefined>> = process.env): TaskLimits {
  const limits = parseTaskLimits(environment[variable]);
  const words = restored.flatMap((name) => {
    const soft = limits.get(name);
    return soft === undefined ? [] : [`--${name}=${soft}:`];
  });
  const files = limits.get('nofile');
  return {
    prefix: words.length === 0 ? [] : ['prlimit', ...words],
    line: files === undefined ? '' : `ulimit -S -n ${files} 2>/dev/null\n`,
  };
}

function parseTaskLimits(text = ''): Map<string, string> {
  return new Map(
    text.split(',').flatMap((pair) => {
      const [, name, value] = /^([a-z]+)=(\d+|unlimited)$/.exec(pair) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** An older Node may have handed over to us, and the command line starts what starts agents. */
const generationsMax = 4;

/** The soft limit of the process that started us, where it is lower than our own. */
function readShellFiles(own: Limit | undefined): string | undefined {
  const shell = findShell();
  const soft = shell === undefined ? undefined : readProcessLimits(shell).get('Max open files')?.soft;
  return soft !== undefined && own !== undefined && Number(soft) < Number(own.soft) ? soft : undefined;
}

/**
 * The nearest process around us that is not Node: the user's shell, or the script of an allocation. Undefined where the
 * first process of the host comes before it.
 */
function findShell(): number | undefined {
  let pid = process.ppid;
  for (let generation = 0; generation < generationsMax && isNode(pid); generation++) pid = readProcess(pid)?.ppid ?? 0;
  return pid <= 1 || isNode(pid) ? undefined : pid;
}

function isNode(pid: number): boolean {
  try {
    const program = readlinkSync(`/proc/${pid}/exe`);
    return program === process.execPath || basename(program) === 'node';
  } catch {
    return false; // Of another account, as `su`.
  }
}
