/**
 * Resolves a path below a root, without `.`, `..` and doubled slashes; `.` for the root itself.
 *
 * An absolute path begins at the root too, as OurGrid has it. Undefined if the path leaves the root on its way, even if
 * it comes back, and if it contains a NUL.
 */
export function keepInside(path: string): string | undefined {
  if (path.includes('\0')) return undefined;
  const kept: string[] = [];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') kept.push(name);
    else if (kept.pop() === undefined) return undefined;
  }
  return kept.length === 0 ? '.' : kept.join('/');
}
