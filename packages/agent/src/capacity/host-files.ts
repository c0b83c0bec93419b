import { readdirSync, readFileSync } from 'node:fs';
import { runCommand } from '@mutirao/runtime/processes';

/** What finding a capacity reads of a host. */
export interface HostFiles {
  /** The text of a file; undefined where it cannot be read. */
  read(file: string): string | undefined;
  /** Names in a folder; empty where it cannot be read. */
  list(folder: string): readonly string[];
  /** Standard output of a command that ended with status 0; undefined otherwise. */
  run(command: string, args: readonly string[]): Promise<string | undefined>;
}

/** A driver that hangs must not keep an agent from starting. */
const commandTimeMax = 10_000;

/** This host. */
export const ownHost: HostFiles = {
  read(file) {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return undefined;
    }
  },
  list(folder) {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  },
  async run(command, args) {
    const { status, stdout } = await runCommand({
      command,
      args,
      env: { ...process.env, LC_ALL: 'C' },
      deadlineMs: commandTimeMax,
      outputBytesMax: 2 ** 20,
    });
    return status === 0 ? stdout.toString() : undefined;
  },
};
