import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { bundledProgram } from './bundled-program.ts';

/** The processes of a grid. */
export type ProcessName = 'agent' | 'broker' | 'cluster' | 'provider' | 'reservations' | 'site' | 'web';

/** Whether this is the packed executable (scripts/pack) instead of Node with the sources. */
export const isPacked: boolean = isSea();

/** How to start a process of this very release: program and arguments, to which its own are appended. */
export function ownProgram(name: ProcessName): readonly [string, ...string[]] {
  if (isPacked) return [process.execPath, 'run', name];
  if (name === 'site') return [...ownCommandLine(), 'run', name];
  const bundled = bundledProgram(name);
  if (bundled !== undefined) return [process.execPath, bundled];
  return [
    process.execPath,
    '--import',
    compileCache,
    fileURLToPath(new URL(`../../../${name}/src/main.ts`, import.meta.url)),
  ];
}

/** How to start the command line of this very release. */
export function ownCommandLine(): readonly [string, ...string[]] {
  return isPacked
    ? [process.execPath]
    : [process.execPath, fileURLToPath(new URL('../../../cli/bin/mutirao.js', import.meta.url))];
}

/**
 * How to start the program that removes folders; the caller appends the folders. A bundled process finds it next to its
 * own bundle.
 */
export function removalProgram(): readonly [string, ...string[]] {
  if (isPacked) return [process.execPath, 'run', 'remove'];
  const bundled = join(dirname(process.argv[1] ?? ''), 'remove.cjs');
  return [
    process.execPath,
    existsSync(bundled) ? bundled : fileURLToPath(new URL('./remove-folder.ts', import.meta.url)),
  ];
}

const compileCache = isPacked ? '' : new URL('../../../cli/bin/compile-cache.js', import.meta.url).href;
