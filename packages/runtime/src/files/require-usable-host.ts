import { existsSync, readFileSync, realpathSync } from 'node:fs';

import { MutiraoError } from '@mutirao/api/errors';

import { parseMounts, type MountLine } from './removal/mounts.ts';

/**
 * Checks what agents need of a host: /proc, and a folder in which programs can be run. Where its file system is mounted
 * `noexec`, each task that brings its own program would fail.
 *
 * @param folder absolute; it, or a folder around it, is there. @param mountTable for tests; that of this process when
 * left out.
 * @throws {MutiraoError} MUT_HOME_UNUSABLE, MUT_PATH_UNUSABLE
 */
export function requireUsableHost(folder: string, mountTable?: string): void {
  if (!existsSync('/proc/self/fd'))
    throw new MutiraoError(
      'MUT_PATH_UNUSABLE',
      'there is no /proc on this host, where processes are found and watched; expected it to be mounted ' +
        '("mount -t proc proc /proc")',
    );
  requireExecutable(folder, mountTable ?? readMountTable());
}

function requireExecutable(folder: string, mountTable: string): void {
  const mount = findMount(resolveExisting(folder), parseMounts(mountTable));
  if (mount === undefined || !mount.options.includes('noexec')) return;
  throw new MutiraoError(
    'MUT_HOME_UNUSABLE',
    `no program in ${folder} can be run: its file system (${mount.type} at ${mount.point}) is mounted with "noexec"; ` +
      'expected a home folder on one that is not',
  );
}

/** The mount that a path is on: of several at one place, the last covers the others. */
function findMount(path: string, mounts: readonly MountLine[]): MountLine | undefined {
  let found: MountLine | undefined;
  for (const mount of mounts) {
    const isAround = path === mount.point || path.startsWith(mount.point === '/' ? '/' : `${mount.point}/`);
    if (isAround && mount.point.length >= (found?.point.length ?? 0)) found = mount;
  }
  return found;
}

/** Without links; what does not exist yet will be on the file system of the folder around it. */
function resolveExisting(path: string): string {
  for (let folder = path; ; folder = folder.slice(0, Math.max(1, folder.lastIndexOf('/')))) {
    try {
      return realpathSync(folder);
    } catch {
      if (folder === '/') return path;
    }
  }
}

/** Empty where there is no /proc: then nobody knows. */
function readMountTable(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}
