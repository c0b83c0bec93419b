import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The file of a program's bundle: our sources and the npm packages in one module, which starts in a third of the
 * processor time that five hundred take.
 * Undefined where there is none, or where a source has changed since. The answer is looked for once a process.
 * Cost of the first call: a few milliseconds, for the time of each source file is read.
 */
export function bundledProgram(name: string): string | undefined {
  bundles ??= { folder: findBundles(fileURLToPath(new URL('../../../../', import.meta.url))) };
  return bundles.folder === undefined ? undefined : join(bundles.folder, `${name}.cjs`);
}

let bundles: { readonly folder: string | undefined } | undefined;

/**
 * The folder of the bundles that `scripts/setup` made in a checkout, if it began them after the last change of anything
 * that is in them.
 */
export function findBundles(root: string): string | undefined {
  try {
    return findFresh(root);
  } catch {
    // Something of it is not for this account to read; the sources are, or their own error says what is not.
    return undefined;
  }
}

function findFresh(root: string): string | undefined {
  const folder = join(root, '.cache/programs');
  const builtAt = statSync(join(folder, 'built'), { throwIfNoEntry: false })?.mtimeMs;
  if (builtAt === undefined) return undefined;
  const sources = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src/`);
  // The charts of the page are drawn by processes too, as SVG.
  return [...sources, 'packages/web/client/src/', 'package-lock.json', 'proto/', 'scripts/packing/'].every((path) =>
    isOlder(join(root, path), builtAt),
  )
    ? folder
    : undefined;
}

/**
 * Whether a file, or a folder with everything in it, is older than an instant. The mtime of a folder reveals removed
 * entries, and the ctime of an entry reveals that it was moved there with an old mtime.
 */
function isOlder(path: string, instant: number): boolean {
  const { mtimeMs, ctimeMs } = statSync(path);
  return Math.max(mtimeMs, ctimeMs) < instant && (!path.endsWith('/') || areEntriesOlder(path, instant));
}

function areEntriesOlder(path: string, instant: number): boolean {
  return readdirSync(path, { withFileTypes: true }).every((entry) =>
    isOlder(`${path}${entry.name}${entry.isDirectory() ? '/' : ''}`, instant),
  );
}
