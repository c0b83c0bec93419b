import { readFileSync, readlinkSync } from 'node:fs';

/** Identifies the mount that a file is on. */
export interface Mounts {
  /**
   * Which mount an open file is on. Two mounts differ also where they show the same device, as bind mounts do. @throws
   * Error where the kernel does not say.
   */
  idOf(file: number): string;
  /** What is mounted, for people: "tmpfs of scratch". */
  describe(id: string): string;
}

/**
 * The mounts of this process, as the kernel lists them. Neither call waits for a file system, so a server that is gone
 * holds nothing up.
 */
export const kernelMounts: Mounts = {
  idOf: (file) => {
    const id = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'latin1'))?.[1];
    // Some sandboxes do not number their mounts there; a mount then goes by the place where it is.
    return id ?? findMountPoint(readlinkSync(`/proc/self/fd/${file}`));
  },
  describe: (id) => {
    const found = readTable().find((mount) => mount.id === id || mount.point === id);
    return found === undefined ? 'a file system' : `${found.type} of ${found.source}`;
  },
};

/** A line of the mount table. */
export interface MountLine {
  readonly id: string;
  readonly point: string;
  readonly type: string;
  readonly source: string;
  /** Options of this mount, such as `noexec`; those of its file system are left out. */
  readonly options: readonly string[];
}

/** Parses /proc/self/mountinfo. Cost: O(lines). */
export function parseMounts(text: string): MountLine[] {
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [id, , , , point, options = ''] = before.split(' ');
    const [type = '', source = ''] = after.split(' ');
    return id === undefined || point === undefined
      ? []
      : [{ id, point: unescape(point), type, source: unescape(source), options: options.split(',') }];
  });
}

function findMountPoint(path: string): string {
  const points = readTable()
    .map(({ point }) => point)
    .filter((point) => path === point || path.startsWith(point === '/' ? '/' : `${point}/`));
  return points.reduce((longest, point) => (point.length > longest.length ? point : longest), '');
}

function readTable(): MountLine[] {
  return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
}

/** Blanks, tabs, line ends and backslashes stand there as three octal digits. */
function unescape(word: string): string {
  return word.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
