import path from 'node:path';
import type { Bytes } from '@mutirao/core/shared';
import type { HostFiles } from './host-files.ts';
import { divideQuota, parseMemoryLimit, parseProcessorQuota } from './parse-limits.ts';

/** What control groups leave to a process; undefined for no limit. */
export interface GroupLimits {
  /** May be a fraction. */
  readonly processors: number | undefined;
  readonly memory: Bytes | undefined;
}

interface Mount {
  /** The part of the hierarchy that is mounted. */
  readonly root: string;
  readonly folder: string;
  /** Empty for the unified hierarchy. */
  readonly controllers: readonly string[];
}

/**
 * Reads the limits of this process's control groups, of both versions, and of the groups around them: the smallest
 * counts.
 */
export function readGroupLimits(host: HostFiles): GroupLimits {
  const groups = host.read('/proc/self/cgroup') ?? '';
  const mounts = parseMounts(host.read('/proc/self/mountinfo') ?? '');
  const unified = listFolders(groups, mounts, '');
  const read = (folder: string, name: string): string => host.read(`${folder}/${name}`) ?? '';
  return {
    processors: smallest([
      ...unified.map((folder) => parseProcessorQuota(read(folder, 'cpu.max'))),
      ...listFolders(groups, mounts, 'cpu').map((folder) =>
        divideQuota(read(folder, 'cpu.cfs_quota_us'), read(folder, 'cpu.cfs_period_us')),
      ),
    ]),
    memory: smallest([
      ...unified.map((folder) => parseMemoryLimit(read(folder, 'memory.max'))),
      ...listFolders(groups, mounts, 'memory').map((folder) => parseMemoryLimit(read(folder, 'memory.limit_in_bytes'))),
    ]),
  };
}

/** @param controller empty for the unified hierarchy. */
function listFolders(groups: string, mounts: readonly Mount[], controller: string): string[] {
  const mount = mounts.find(({ controllers }) =>
    controller === '' ? controllers.length === 0 : controllers.includes(controller),
  );
  const group = findGroup(groups, controller);
  if (mount === undefined || group === undefined) return [];
  // In a container without a namespace of its own the group is named from the host's root, which is not mounted.
  const relative = path.relative(mount.root, group);
  const isMounted = !relative.startsWith('..');
  const folders: string[] = [mount.folder];
  if (isMounted)
    for (const part of relative.split('/').filter((name) => name !== ''))
      folders.push(`${folders.at(-1) ?? ''}/${part}`);
  return folders;
}

function findGroup(groups: string, controller: string): string | undefined {
  for (const line of groups.split('\n')) {
    const [, names, group] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (group !== undefined && names?.split(',').includes(controller) === true) return group;
  }
  return undefined;
}

/** Control groups among what /proc/PID/mountinfo lists. */
function parseMounts(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [, root, folder, type, options] = /^\d+ \d+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line) ?? [];
    if (root === undefined || folder === undefined || options === undefined) return [];
    return [{ root, folder, controllers: type === 'cgroup2' ? [] : options.split(',') }];
  });
}

function smallest(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
