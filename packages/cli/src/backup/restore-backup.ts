import { chmodSync, copyFileSync, existsSync, lstatSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { fileError, hashFile, removeTree } from '@mutirao/runtime/files';
import { checkJournal, markPutBack, requireUnused } from '@mutirao/runtime/journal';
import { isJournal, isOfParts, listFiles, listParts } from './backup-parts.ts';
import { filesFolder, readManifest, type BackupFile, type Manifest } from './manifest.ts';

/** Where a back-up is put together in a home folder before its files take their places. */
const draftName = 'restore.partial';

/** What was put back, and where what was there before is now; undefined where nothing was. */
export interface Restored {
  readonly manifest: Manifest;
  readonly replacedFolder: string | undefined;
}

/**
 * Puts a back-up back into a home folder that no process uses. Each file is compared with the manifest before anything
 * is touched, and all of them are on the disk before any is in its place; what is in the home folder is moved aside,
 * never removed.
 *
 * @throws {MutiraoError} MUT_JOURNAL_CORRUPT when a file of the back-up is missing or another one, MUT_ALREADY_RUNNING,
 * MUT_BAD_REQUEST when something exists there and `replace` is not set, MUT_DISK_FULL.
 */
export async function restoreBackup(
  home: string,
  folder: string,
  { replaces, now }: { readonly replaces: boolean; readonly now: number },
): Promise<Restored> {
  const manifest = readManifest(folder);
  for (const file of manifest.files) await checkFile(folder, file);
  const parts = listParts(home);
  for (const path of parts.flatMap((part) => listFiles(home, part)).filter(isJournal)) requireUnused(join(home, path));
  // A token alone is made whenever a command is tried.
  const inTheWay = parts.filter((part) => part !== 'token');
  if (inTheWay.length > 0 && !replaces) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${home} has ${inTheWay.join(', ')} already; expected an empty home folder, or --replace, which moves them aside`,
    );
  }
  const draft = join(home, draftName);
  try {
    // One that was interrupted may have left other files, or the rest of a journal.
    removeTree(draft);
    for (const file of manifest.files) putBack(draft, folder, file);
    const aside = getAside(home, now);
    const moves = [
      ...parts.map((part) => [join(home, part), join(aside, part)] as const),
      ...listParts(draft).map((part) => [join(draft, part), join(home, part)] as const),
    ];
    moveAll(moves);
    return { manifest, replacedFolder: parts.length === 0 ? undefined : aside };
  } catch (error) {
    throw fileError(error, home);
  } finally {
    removeTree(draft);
  }
}

/** @throws {MutiraoError} MUT_BAD_REQUEST for a path that no back-up of this release has. */
function requirePlace(path: string): void {
  if (isAbsolute(path) || normalize(path) !== path || path.startsWith('..'))
    throw new MutiraoError('MUT_BAD_REQUEST', `the back-up names ${path}; expected paths below the home folder`);
  if (!isOfParts(path))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the back-up names ${path}, which no back-up of this release contains; restore it with the release that made it`,
    );
}

async function checkFile(folder: string, { path, size, sha256, lastChange }: BackupFile): Promise<void> {
  requirePlace(path);
  const copy = join(folder, filesFolder, path);
  if (lstatSync(copy, { throwIfNoEntry: false })?.isFile() !== true)
    throw new MutiraoError('MUT_JOURNAL_CORRUPT', `the back-up lacks ${path}`);
  const found = await hashFile(copy);
  if (found.size !== size || found.sha256 !== sha256)
    throw new MutiraoError(
      'MUT_JOURNAL_CORRUPT',
      `${path} of the back-up has changed since it was made: ${found.size} bytes with SHA-256 ${found.sha256}; ` +
        `expected ${size} with ${sha256}`,
    );
  if (lastChange === undefined) return;
  if (!existsSync(`${copy}-last`)) throw new MutiraoError('MUT_JOURNAL_CORRUPT', `the back-up lacks ${path}-last`);
  checkJournal(copy, lastChange);
}

function getAside(home: string, now: number): string {
  return join(home, 'replaced', new Date(now).toISOString().replaceAll(':', '-'));
}

/** Moves files and folders, each from one path to another; where one cannot be moved, all are moved back. */
function moveAll(moves: readonly (readonly [from: string, to: string])[]): void {
  for (const [index, [from, to]] of moves.entries()) {
    try {
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
      renameSync(from, to);
    } catch (error) {
      for (const [before, after] of moves.slice(0, index).reverse()) renameSync(after, before);
      throw error;
    }
  }
}

/** A copy may have been on a medium without modes, or that nobody may write to: what is put back is its user's alone. */
function putBack(home: string, folder: string, { path, lastChange }: BackupFile): void {
  const [copy, to] = [join(folder, filesFolder, path), join(home, path)];
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  copyFileSync(copy, to);
  chmodSync(to, 0o600 | (statSync(copy).mode & 0o100));
  if (lastChange === undefined) return;
  copyFileSync(`${copy}-last`, `${to}-last`);
  chmodSync(`${to}-last`, 0o600);
  markPutBack(to);
}
