import { readFileSync } from 'node:fs';
import { realpath, stat, statfs } from 'node:fs/promises';
import { sep } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { WorkFolder } from '@mutirao/core/messages';
import { describeError } from '@mutirao/core/shared';

/**
 * File systems that hosts share, by the type that statfs has: NFS, Lustre, BeeGFS, GPFS, Ceph, CIFS, SMB2, AFS, PanFS,
 * OrangeFS, OCFS2, GFS2, 9P, VirtioFS and FUSE. Inode numbers of
 * another mount of the same one are equal; where they are made up, as by some of FUSE, folders are taken for different
 * ones.
 */
const sharedTypes = new Set(
  [
    '6969',
    'bd00bd0',
    '19830326',
    '47504653',
    'c36400',
    'ff534d42',
    'fe534d42',
    '5346414f',
    'aad7aaea',
    '20030528',
    '7461636f',
    '1161970',
    '1021997',
    '65735546',
    '6a656a63',
  ].map((type) => type.toLowerCase()),
);

/** Whether hosts may share file systems of a type. */
export function isSharedFileSystem(type: string): boolean {
  return sharedTypes.has(type);
}

/**
 * Describes the folder at a path.
 *
 * @param home another folder, for `isBesideHome`.
 * @throws {MutiraoError} MUT_WORK_FOLDER where it is not a folder, or cannot be looked at.
 */
export async function describeWorkFolder(path: string, home: string): Promise<WorkFolder> {
  try {
    const [status, system, homeStatus] = await Promise.all([
      stat(path, { bigint: true }),
      statfs(path, { bigint: true }),
      stat(home, { bigint: true }).catch(() => undefined),
    ]);
    if (!status.isDirectory()) throw new MutiraoError('MUT_WORK_FOLDER', `${path} is not a folder`);
    return {
      path,
      inode: String(status.ino),
      device: String(status.dev),
      fileSystem: system.type.toString(16),
      bootId: readBootId(),
      isBesideHome: homeStatus?.dev === status.dev,
    };
  } catch (error) {
    if (error instanceof MutiraoError) throw error;
    throw new MutiraoError('MUT_WORK_FOLDER', `cannot work in the folder ${path}: ${getReason(error)}`, {
      cause: error,
    });
  }
}

/**
 * What is different about the folder that another host has at the same path, as a part of a sentence; undefined where
 * it is the same folder.
 */
export function findDifference(theirs: WorkFolder, ours: WorkFolder): string | undefined {
  if (theirs.inode !== ours.inode) return 'it has another inode number';
  if (theirs.bootId !== '' && theirs.bootId === ours.bootId)
    return theirs.device === ours.device ? undefined : 'it is on another file system of the same host';
  if (theirs.isBesideHome && ours.isBesideHome) return undefined;
  return theirs.fileSystem === ours.fileSystem && isSharedFileSystem(ours.fileSystem)
    ? undefined
    : 'it is on a local disk, or on another file system';
}

/**
 * Whether a path leads into one of some folders, or is one of them, with links followed.
 *
 * @returns that folder; undefined where it leads into none.
 */
export async function findFolderAround(path: string, folders: readonly string[]): Promise<string | undefined> {
  const real = await realpath(path).catch(() => path);
  for (const folder of folders) {
    const around = await realpath(folder).catch(() => folder);
    if (real === around || real.startsWith(around.endsWith(sep) ? around : around + sep)) return folder;
  }
  return undefined;
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return '';
  }
}

function getReason(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'it is not there';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    default:
      return describeError(error);
  }
}
