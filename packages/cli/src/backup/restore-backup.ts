import { chmodSync, copyFileSync, lstatSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { hashFile } from '@mutirao/runtime/files';
import { checkJournal, markPutBack, requireUnused } from '@mutirao/runtime/journal';
import { isJournal, listFiles, listParts } from './backup-parts.ts';
import { filesFolder, readManifest, type BackupFile, type Manifest } from './manifest.ts';

/** What was put back, and where what was there before is now; undefined where nothing was. */
export interface Restored {
  readonly manifest: Manifest;
  readonly replacedFolder: string | undefined;
}

/**
 * Puts a back-up back into a home folder that no process uses. Each file is compared with the manifest before anything
 * is touched; what is in the home folder is moved aside, never removed.
 *
 * @throws {MutiraoError} MUT_JOURNAL_CORRUPT when a file of the back-up is missing or another one, MUT_ALREADY_RUNNING,
 * MUT_BAD_REQUEST when something exists there and `replace` is not set.
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
  const replacedFolder = parts.length === 0 ? undefined : moveAside(home, parts, now);
  for (const file of manifest.files) putBack(home, folder, file);
  return { manifest, replacedFolder };
}

async function checkFile(folder: string, { path, size, sha256, lastChange }: BackupFile): Promise<void> {
  if (isAbsolute(path) || normalize(path) !== path || path.startsWith('..'))
    throw new MutiraoError('MUT_BAD_REQUEST', `the back-up names ${path}; expected paths below the home folder`);
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
  if (lastChange !== undefined) checkJournal(copy, lastChange);
}

function moveAside(home: string, parts: readonly string[], now: number): string {
  const aside = join(home, 'replaced', new Date(now).toISOString().replaceAll(':', '-'));
  for (const part of parts) {
    mkdirSync(dirname(join(aside, part)), { recursive: true, mode: 0o700 });
    renameSync(join(home, part), join(aside, part));
  }
  return aside;
}

function putBack(home: string, folder: string, { path, lastChange }: BackupFile): void {
  const [copy, to] = [join(folder, filesFolder, path), join(home, path)];
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  copyFileSync(copy, to);
  chmodSync(to, statSync(copy).mode & 0o777);
  if (lastChange === undefined) return;
  copyFileSync(`${copy}-last`, `${to}-last`);
  markPutBack(to);
}
