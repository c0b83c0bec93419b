import { readdirSync, readFileSync } from 'node:fs';
import type { VictimRole } from './fault-plan.ts';

/** A live process of a grid. */
export interface GridProcess {
  readonly pid: number;
  readonly pgid: number;
  readonly role: VictimRole | 'other';
  /** Its command line, for people. */
  readonly command: string;
}

/**
 * All live processes that were started, by however many steps, with this home folder in their environment. Cost: reads
 * two files of each process of the host.
 */
export function findProcesses(home: string): GridProcess[] {
  const mark = `MUTIRAO_HOME=${home}`;
  const found: GridProcess[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const [environment, command, stat] = ['environ', 'cmdline', 'stat'].map((file) =>
      readOr(`/proc/${name}/${file}`),
    ) as [string, string, string];
    if (!environment.split('\0').includes(mark)) continue;
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') continue;
    const words = command.split('\0').filter((word) => word !== '');
    found.push({
      pid: Number(name),
      pgid: Number(fields[2]),
      role: getRole(words, environment),
      command: words.join(' ').slice(0, 200),
    });
  }
  return found;
}

function getRole(words: readonly string[], environment: string): GridProcess['role'] {
  const program = words
    .map((word) => /\/(broker|provider|agent|cluster)(?:\/src\/main\.ts|\.cjs)$/.exec(word)?.[1])
    .find((name) => name !== undefined);
  if (program !== undefined) return program as VictimRole;
  if (words.includes('watchdog')) return 'watchdog';
  if (!environment.includes('\0MUTIRAO_LAUNCHER=')) return 'other';
  return words.length === 2 && /\/launchers\/in-\d+$/.test(words[1] ?? '') ? 'launcher' : 'task';
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // It ended between the listing and now, or is somebody else's.
  }
}
