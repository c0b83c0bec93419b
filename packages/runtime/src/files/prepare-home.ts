import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';

import { isFullDisk } from './room.ts';

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'you have no permission',
  EPERM: 'you have no permission',
  ENOTDIR: 'a part of the path is not a folder',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the path is too long',
  EROFS: 'the file system is read-only',
  ENOENT: 'no folder can be made there',
  EEXIST: 'a link of that name leads nowhere',
};

/**
 * Checks that what is at the path of a home folder can be read. Nothing may be there yet.
 *
 * @param home absolute. @returns the same path.
 * @throws {MutiraoError} MUT_HOME_UNUSABLE for anything but a folder, and for one that this user may not read.
 */
export function checkHome(home: string): string {
  let found: Stats | undefined;
  try {
    found = statSync(home);
    if (found.isDirectory()) accessSync(home, constants.R_OK | constants.X_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return home;
    throw unusable(home, 'cannot be used', error);
  }
  if (!found.isDirectory())
    throw new MutiraoError(
      'MUT_HOME_UNUSABLE',
      `the home folder ${home} is ${getKind(found)}; expected a folder, or a path where one can be made`,
    );
  return home;
}

/**
 * Makes a home folder where there is none, readable by its owner alone, and checks that it can be written to, and by
 * nobody else: what is run is read from it.
 *
 * Node's own recursive making of folders never returns on some file systems that have no new folders, such as /proc, so
 * each one is made by itself.
 *
 * @param home absolute.
 * @throws {MutiraoError} MUT_HOME_UNUSABLE with the reason.
 */
export function prepareHome(home: string): void {
  checkHome(home);
  try {
    makeFolders(home);
    requirePrivate(home);
    const probe = join(home, `.writable-${process.pid}`);
    writeFileSync(probe, '', { mode: 0o600 });
    rmSync(probe);
  } catch (error) {
    if (isFullDisk(error)) return; // Existing work continues.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!Object.hasOwn(reasons, code)) throw error;
    throw unusable(home, 'cannot be written to', error);
  }
}

/**
 * Root may use the home folder of anybody, and anybody one that root made. A folder of the user that was only made too
 * open, as a umask of 002 does, is closed: root closes it too. @throws {MutiraoError} MUT_HOME_UNUSABLE
 */
function requirePrivate(home: string): void {
  const own = process.geteuid?.();
  const { uid, mode } = statSync(home);
  if (own === undefined) return;
  if (uid !== own && uid !== 0 && own !== 0)
    throw new MutiraoError(
      'MUT_HOME_UNUSABLE',
      `the home folder ${home} belongs to user ${uid}, who could change what is run from it; expected one of your own`,
    );
  if ((mode & 0o022) !== 0 && !((uid === own || own === 0) && tryClose(home, uid)))
    throw new MutiraoError(
      'MUT_HOME_UNUSABLE',
      `others may write to the home folder ${home} (mode ${(mode & 0o7777).toString(8)}) and could change what is run ` +
        'from it; expected a folder that only you may write to. Check that its files are yours, then run ' +
        `"chmod go-w ${home}", or name another folder`,
    );
}

/**
 * Closes a folder of a user that is new or has been a home folder, and in which nobody but root has put anything else.
 * Answers whether it is closed now: some file systems keep no modes.
 */
function tryClose(home: string, user: number): boolean {
  const names = readdirSync(home);
  const isHome = names.length === 0 || names.includes('token');
  if (!isHome || !names.every((name) => isOf(join(home, name), user))) return false;
  try {
    chmodSync(home, statSync(home).mode & 0o7755);
  } catch {
    return false;
  }
  return (statSync(home).mode & 0o022) === 0;
}

/** Whether a file is of a user, or of root; also when it is gone meanwhile. */
function isOf(path: string, user: number): boolean {
  const { uid = user } = lstatSync(path, { throwIfNoEntry: false }) ?? {};
  return uid === user || uid === 0;
}

function makeFolders(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  if (dirname(path) !== path) makeFolders(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

function unusable(home: string, what: string, error: unknown): MutiraoError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return new MutiraoError(
    'MUT_HOME_UNUSABLE',
    `the home folder ${home} ${what}: ${reasons[code] ?? message} (${code})`,
    { cause: error },
  );
}

function getKind(found: Stats): string {
  if (found.isFile()) return 'a file';
  if (found.isSocket()) return 'a socket';
  return found.isFIFO() ? 'a named pipe' : 'a device';
}
