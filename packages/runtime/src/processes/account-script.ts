import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { mendFolder } from '../files/make-folder.ts';
import { listDescendants } from './subreaper.ts';

/**
 * Programs that stand between us and a task of another account; a polite signal to one of them would end the task at
 * once.
 */
const goBetweens = /^(?:sudo|bwrap)$/;

/**
 * The script of a launcher's task in another account, in one of our files that is the standard input of that account's
 * shell.
 */
export class AccountScript {
  readonly file: string;
  #bytes = 0;

  constructor(file: string) {
    this.file = file;
  }

  /** @throws Error of the file system. */
  write(script: string): void {
    mendFolder(path.dirname(this.file));
    writeFileSync(this.file, script, { mode: 0o600 });
    this.#bytes = Buffer.byteLength(script);
  }

  /**
   * Whether the task has begun: just before, the script writes to its standard input. Nobody else of that account can
   * write there.
   */
  hasBegun(): boolean {
    try {
      return statSync(this.file).size !== this.#bytes;
    } catch {
      return true; // Somebody of our own account has removed it.
    }
  }
}

/** The processes below a launcher's shell that a signal to a task of another account is for. */
export function listOfAccount(shell: number, signal: 'SIGTERM' | 'SIGKILL'): number[] {
  const below = listDescendants(shell);
  return signal === 'SIGKILL' ? below : below.filter((pid) => !goBetweens.test(readName(pid)));
}

/** Of a process's program; empty when it is gone. */
function readName(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'latin1').trim();
  } catch {
    return '';
  }
}
