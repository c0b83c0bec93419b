import { constants } from 'node:fs';
import { chmod, copyFile, lstat, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { FilledPath } from '@mutirao/core/bag';
import { followLinksLater, fsPath, inFolderBelow, isPlainName, type HeldFolder } from '@mutirao/runtime/files';

/**
 * Where a file goes: below a folder that its user named. Links on the way to that folder are hers and are followed;
 * what comes after it a machine chose, and no link is.
 */
export interface Place {
  readonly folder: string;
  /** The folders below it, and last the file's own name. */
  readonly names: readonly [string, ...string[]];
}

/** One file to bring to its place. */
export interface Placing {
  /** Where its bytes are. */
  readonly source: string;
  readonly place: Place;
  /** Permission bits. */
  readonly mode: number;
  /** Leave `source`: another file needs it too. */
  readonly isShared: boolean;
  /** Folders and files that nothing goes into or replaces, wherever links lead; without links on the way to them. */
  readonly forbidden?: readonly string[];
}

/** The path of a place, as a user reads it. */
export function pathOfPlace({ folder, names }: Place): string {
  return join(folder, ...names);
}

/** The place of a path that its user wrote. */
export function placeOfPath(path: string): Place {
  return { folder: dirname(path), names: [basename(path)] };
}

/**
 * Brings a file to its place at once and whole: readers see either the former file or the new one. Folders above are
 * made. A move where both are on one file system, otherwise a copy.
 *
 * @throws {MutiraoError} MUT_CONTENT_NOT_FOUND when the bytes are gone, MUT_PATH_ESCAPES for a link where none is
 * followed, MUT_OUTPUT_FORBIDDEN when the place cannot be written.
 */
export async function putInPlace(placing: Placing): Promise<void> {
  const { source, place, forbidden = [] } = placing;
  const shown = pathOfPlace(place);
  try {
    requireAllowed(shown, forbidden);
    // Before any folder is made there; and again where it is.
    if (forbidden.length > 0) requireAllowed(await followLinksLater(place.folder), forbidden);
    await inFolderBelow(place.folder, place.names.slice(0, -1), async (folder) => {
      const name = place.names.at(-1) ?? '';
      requireAllowed(join(folder.path, name), forbidden);
      if (!placing.isShared && (await move(placing, folder, name))) return;
      await copy(placing, folder, name);
      if (!placing.isShared) await rm(source, { force: true });
    });
  } catch (error) {
    if (error instanceof MutiraoError) throw error;
    if (await isAbsent(source)) {
      throw new MutiraoError('MUT_CONTENT_NOT_FOUND', `the bytes of ${shown} are not here any more`, { cause: error });
    }
    throw new MutiraoError('MUT_OUTPUT_FORBIDDEN', `${shown} cannot be written: ${String(error)}`, { cause: error });
  }
}

/** @throws {MutiraoError} MUT_OUTPUT_FORBIDDEN for a path that is forbidden, or inside of a folder that is. */
function requireAllowed(path: string, forbidden: readonly string[]): void {
  const owner = forbidden.find((folder) => path === folder || path.startsWith(folder + sep));
  if (owner !== undefined)
    throw new MutiraoError('MUT_OUTPUT_FORBIDDEN', `output ${path} is inside ${owner}, which is not for results`);
}

/** What leads to the place of an output. */
export interface Wanted {
  /** Where its user wants it. */
  readonly place: FilledPath;
  /** What it is called on the machine. */
  readonly remote: FilledPath;
  /** Below the output where that is a folder; empty for a file. */
  readonly below: string;
}

/**
 * Where an output file goes: to the path that its user named, or below it where it is one of a folder's files, or into
 * it under its own name where that path is a folder.
 *
 * @throws {MutiraoError} MUT_PATH_ESCAPES when what a machine chose leads out of there.
 */
export async function getTarget({ place: { path, machineFrom }, remote, below }: Wanted): Promise<Place> {
  const folder = machineFrom === undefined ? resolve(path) : resolve(path.slice(0, machineFrom));
  const chosen = machineFrom === undefined ? [] : namesBelow(path.slice(machineFrom).replace(/\/+$/, ''), path);
  if (below !== '') return placeBelow(folder, [...chosen, ...namesBelow(below, path)]);
  const isInto = path.endsWith('/') || (await isFolder(path, machineFrom !== undefined));
  if (isInto) return placeBelow(folder, [...chosen, basename(remote.path)]);
  return machineFrom === undefined ? placeOfPath(folder) : placeBelow(folder, chosen);
}

/**
 * The names on the way to a file that is below an output. @throws {MutiraoError} MUT_PATH_ESCAPES where it leads out of
 * there.
 */
export function namesBelow(below: string, shown: string): string[] {
  const names = below.split('/');
  if (!names.every(isPlainName))
    throw new MutiraoError('MUT_PATH_ESCAPES', `${JSON.stringify(below)} leads out of ${shown}`);
  return names;
}

/** @throws {MutiraoError} MUT_PATH_ESCAPES where there is no name for the file. */
export function placeBelow(folder: string, names: readonly string[]): Place {
  const [first, ...rest] = names;
  if (first === undefined || !names.every(isPlainName))
    throw new MutiraoError('MUT_PATH_ESCAPES', `an output that goes into ${folder} has no name of its own`);
  return { folder, names: [first, ...rest] };
}

async function isFolder(path: string, isChosen: boolean): Promise<boolean> {
  const look = isChosen ? lstat : stat;
  return (await look(fsPath(path)).catch(() => undefined))?.isDirectory() === true;
}

/** False when the two are on different file systems. */
async function move({ source, mode }: Placing, folder: HeldFolder, name: string): Promise<boolean> {
  await chmod(source, mode);
  try {
    await rename(source, folder.entry(name));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EXDEV') return false;
    throw error;
  }
}

/**
 * Copies to a temporary file in the target's folder, then renames it. The temporary name follows from the source's,
 * which no two copies share at a time; the target's may be as long as names can be.
 */
async function copy({ source, mode }: Placing, folder: HeldFolder, name: string): Promise<void> {
  const part = folder.entry(`.mutirao-${basename(source)}.part`);
  try {
    // An existing file was left by a broker that was killed, or is somebody's link.
    await rm(part, { force: true });
    await copyFile(source, part, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    await chmod(part, mode);
    await rename(part, folder.entry(name));
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function isAbsent(path: string): Promise<boolean> {
  return await stat(path).then(
    () => false,
    () => true,
  );
}
