/**
 * Says what is wrong with a path that must stay below a root; undefined when it does.
 *
 * It is read as written: relative, parts divided by `/`, `..` allowed as long as the way never leaves the root.
 */
export function findPathFault(path: string): string | undefined {
  if (path.includes('\0')) return 'it holds a NUL';
  if (path.startsWith('/')) return 'it is absolute; want a path relative to the root';
  let depth = 0;
  for (const part of path.split('/')) {
    if (part === '..') depth--;
    else if (part !== '' && part !== '.') depth++;
    if (depth < 0) return 'it leaves its root by ".."';
  }
  return undefined;
}
