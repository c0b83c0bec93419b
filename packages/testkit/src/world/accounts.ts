import { chownSync, constants, cpSync, copyFileSync, mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** An account that programs under test run as. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Debian's `nobody`: an ordinary account on every host. */
export const nobody: Account = { uid: 65_534, gid: 65_534 };

/** An account that no password file names, as in containers that are started with any user id. */
export const nameless: Account = { uid: 54_321, gid: 54_321 };

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Whether tests run as an account that may start programs as others. */
export const mayChangeAccount: boolean = process.getuid?.() === 0;

/**
 * Node and a folder with the bundled programs that any account can run.
 *
 * They are those of this checkout where every folder on the way to them can be entered by others, and else copies in
 * `folder`.
 */
export function programsForAll(folder: string): { readonly node: string; readonly programs: string } {
  const programs = join(root, '.cache/programs');
  if (isOpenToAll(process.execPath) && isOpenToAll(join(programs, 'agent.cjs')))
    return { node: process.execPath, programs };
  const copied = join(folder, 'programs');
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  cpSync(programs, copied, { recursive: true });
  const node = join(folder, 'node');
  copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE);
  return { node, programs: copied };
}

/** Gives a folder to an account. */
export function giveTo(path: string, account: Account | undefined): void {
  if (account !== undefined) chownSync(path, account.uid, account.gid);
}

/** A folder below the system's temporary one that `programsForAll` may fill. */
export function folderForAll(): string {
  return join(tmpdir(), `mutirao-programs-${process.pid}`);
}

function isOpenToAll(file: string): boolean {
  if ((statSync(file).mode & 0o004) === 0) return false;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
