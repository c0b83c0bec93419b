import { readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { lstatSync, statSync, type Stats } from 'node:fs';

import { nameOfBytes } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { fsPath } from '@mutirao/runtime/files';

import { Turns } from '../concurrency/turns.ts';

/** One file of a path at home: itself, or one below it. */
export interface LocalFile {
  readonly absolutePath: string;
  /** Below the folder that was asked for; empty when a file was asked for. */
  readonly below: string;
  readonly status: Stats;
}

/** Most files that one folder is expanded to. */
export const folderFilesMax = 100_000;

/**
 * Lists the files that a path stands for: the file itself, or all files below a folder in the order of their names.
 * Links are followed, but never into a folder that is being listed. Empty folders are not carried.
 *
 * @param machineFrom see `FilledPath`: from there on no link is followed.
 * @throws {MutiraoError} MUT_INPUT_MISSING when the path or a file below it is not there, or is neither file nor
 * folder; MUT_INPUT_UNUSABLE when a home folder of Mutirao is among what would be brought; MUT_PATH_ESCAPES for a link
 * where none is followed.
 */
export async function listFiles(path: string, machineFrom?: number): Promise<LocalFile[]> {
  const status = statusOf(path);
  requireNoLink(path, machineFrom);
  if (status.isFile()) return [{ absolutePath: path, below: '', status }];
  if (!status.isDirectory()) throw missing(`${path} is neither a file nor a folder`);
  const files: LocalFile[] = [];
  await listFolder({ path, below: '', ancestors: new Set(), followsLinks: machineFrom === undefined }, files);
  return files;
}

/**
 * The first link, or way back to the folder above, of a path from `from` on; undefined where there is none, and without
 * a `from`.
 */
export function findLink(path: string, from: number | undefined): string | undefined {
  if (from === undefined) return undefined;
  for (let end = from; end < path.length; ) {
    const next = path.indexOf('/', end + 1);
    end = next === -1 ? path.length : next;
    const part = path.slice(0, end);
    if (part.endsWith('/..') || isLink(part)) return part;
  }
  return undefined;
}

function requireNoLink(path: string, from: number | undefined): void {
  const link = findLink(path, from);
  if (link !== undefined)
    throw new MutiraoError('MUT_PATH_ESCAPES', `${link} is a link, and no link is followed in what a machine chooses`);
}

function isLink(path: string): boolean {
  return lstatSync(fsPath(path), { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** The name below its root of an input file: `wanted` itself, or below it where it names a folder. */
export function getRemoteName(wanted: string, source: string, file: LocalFile): string {
  if (file.below !== '') return join(wanted, file.below);
  const isFolder = wanted.endsWith('/') || join(wanted) === '.';
  return isFolder ? join(wanted, basename(source)) : join(wanted);
}

const turns = new Turns();

interface Folder {
  readonly path: string;
  readonly below: string;
  /** Real paths of the folders above, so that a link in a circle ends. */
  readonly ancestors: ReadonlySet<string>;
  readonly followsLinks: boolean;
}

async function listFolder(folder: Folder, files: LocalFile[]): Promise<void> {
  const real = nameOfBytes(await realpath(fsPath(folder.path), { encoding: 'buffer' }));
  if (folder.ancestors.has(real)) return;
  const ancestors = new Set(folder.ancestors).add(real);
  const entries = await readdir(fsPath(folder.path), { encoding: 'buffer' }).catch((error: unknown) =>
    Promise.reject(missing(`${folder.path} cannot be read`, error)),
  );
  const names = entries.map(nameOfBytes).sort();
  refuseHome(folder.path, names);
  for (const name of names) {
    const path = join(folder.path, name);
    const below = folder.below === '' ? name : `${folder.below}/${name}`;
    if (turns.isOver()) await turns.next();
    const status = statusOf(path);
    if (!folder.followsLinks) requireNoLink(path, folder.path.length + 1);
    if (status.isDirectory()) await listFolder({ path, below, ancestors, followsLinks: folder.followsLinks }, files);
    else if (status.isFile()) files.push({ absolutePath: path, below, status });
    if (files.length > folderFilesMax) throw missing(`${folder.path} holds more than ${folderFilesMax} files`);
  }
}

/** A home folder changes all the time while its grid runs, and holds keys that no machine should get. */
function refuseHome(folder: string, names: readonly string[]): void {
  if (
    !names.includes('shared') ||
    !names.includes('token') ||
    statSync(fsPath(join(folder, 'shared', 'home.json')), { throwIfNoEntry: false }) === undefined
  )
    return;
  throw new MutiraoError(
    'MUT_INPUT_UNUSABLE',
    `${folder} is a home folder of Mutirao: its files change all the time, and some are keys. Name the files ` +
      'and folders that the task needs, or use a home folder elsewhere (--home)',
  );
}

function statusOf(path: string): Stats {
  try {
    return statSync(fsPath(path));
  } catch (error) {
    throw missing(`${path} is not there or cannot be read`, error);
  }
}

function missing(message: string, cause?: unknown): MutiraoError {
  return new MutiraoError('MUT_INPUT_MISSING', message, { cause });
}
