import { chmodSync, copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { fileError, hashFile, removeTree, writeAtomic } from '@mutirao/runtime/files';
import { copyJournal } from '@mutirao/runtime/journal';
import { programVersion } from '../version.ts';
import { isJournal, listFiles, listParts } from './backup-parts.ts';
import { filesFolder, manifestName, type BackupFile, type Manifest } from './manifest.ts';

/**
 * Copies the parts of a home folder that cannot be recreated into a new folder, which gets its name when it is
 * complete.
 *
 * @throws {MutiraoError} MUT_ALREADY_RUNNING when a process has a journal open, MUT_JOURNAL_CORRUPT when one is
 * damaged, MUT_BAD_REQUEST when the folder exists, or there is nothing to copy.
 */
export async function makeBackup(home: string, folder: string, now: number): Promise<Manifest> {
  if (existsSync(folder) && (!lstatSync(folder).isDirectory() || readdirSync(folder).length > 0)) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${folder} is there already; expected the name of a folder to make, or an empty one`,
    );
  }
  const paths = listParts(home).flatMap((part) => listFiles(home, part));
  if (paths.length === 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${home} has nothing that a back-up would hold; expected a home folder with jobs, or with an identity`,
    );
  const draft = `${folder}.${process.pid}.partial`;
  try {
    mkdirSync(join(draft, filesFolder), { recursive: true, mode: 0o700 });
    const files: BackupFile[] = [];
    // Journals first: where one is in use nothing else is copied.
    for (const path of [...paths.filter(isJournal), ...paths.filter((one) => !isJournal(one))])
      files.push(await copyOne(home, join(draft, filesFolder), path));
    const manifest: Manifest = { format: 1, madeUnixMs: now, release: programVersion(), home, files };
    writeAtomic(join(draft, manifestName), `${JSON.stringify(manifest, undefined, 1)}\n`);
    // Onto an empty folder, or a name that is not there.
    renameSync(draft, folder);
    return manifest;
  } catch (error) {
    removeTree(draft);
    throw fileError(error, folder);
  }
}

async function copyOne(home: string, to: string, path: string): Promise<BackupFile> {
  const [from, copy] = [join(home, path), join(to, path)];
  mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
  if (!isJournal(path)) {
    copyFileSync(from, copy);
    return { path, ...(await hashFile(copy)) };
  }
  const lastChange = copyJournal(from, copy);
  chmodSync(copy, 0o600);
  return { path, ...(await hashFile(copy)), lastChange };
}
