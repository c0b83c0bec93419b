import { lstatSync, realpathSync } from 'node:fs';
import { isAbsolute, join, normalize, sep } from 'node:path';
import { nameOfBytes } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { fsPath } from './byte-names.ts';

/**
 * The absolute path of `path` below `root`, which exists. The last parts of `path` may not exist yet.
 *
 * Symbolic links are followed as far as they stay inside; what comes back has none. Nobody else may change links below
 * the root between this and the use of the path.
 * @throws {MutiraoError} MUT_PATH_ESCAPES when it is absolute, leaves the root by `..`, or leads out by a symbolic
 * link.
 */
export function resolveInside(root: string, path: string): string {
  const fault = findFault(path);
  if (fault !== undefined) throw escapes(path, fault);
  const realRoot = realpathSync(root);
  let current = realRoot;
  for (const part of normalize(path).split(sep)) {
    if (part === '' || part === '.') continue;
    current = followed(join(current, part), realRoot, path);
  }
  return current;
}

function findFault(path: string): string | undefined {
  if (path.includes('\0')) return 'it holds a NUL';
  if (isAbsolute(path)) return 'it is absolute; expected a path relative to the root';
  const normal = normalize(path);
  return normal === '..' || normal.startsWith(`..${sep}`) ? 'it leaves its root by ".."' : undefined;
}

function followed(step: string, realRoot: string, path: string): string {
  if (lstatSync(fsPath(step), { throwIfNoEntry: false })?.isSymbolicLink() !== true) return step;
  const target = findReal(step);
  if (target === undefined) throw escapes(path, 'a symbolic link on the way leads nowhere');
  if (target !== realRoot && !target.startsWith(realRoot + sep))
    throw escapes(path, 'a symbolic link leads out of the root');
  return target;
}

/** Where a link ends; undefined when it ends nowhere: writing through it would make a file, who knows where. */
function findReal(link: string): string | undefined {
  try {
    return nameOfBytes(realpathSync(fsPath(link), 'buffer'));
  } catch {
    return undefined;
  }
}

function escapes(path: string, fault: string): MutiraoError {
  return new MutiraoError('MUT_PATH_ESCAPES', `path is ${JSON.stringify(path)}; ${fault}`);
}
