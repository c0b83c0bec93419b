import { fileURLToPath } from 'node:url';

/** The processes of a grid. */
export type ProcessName = 'agent' | 'broker' | 'cluster' | 'provider';

const compileCache = new URL('../../bin/compile-cache.js', import.meta.url).href;

/** The arguments of Node that run a process. */
export function programOf(name: ProcessName): readonly string[] {
  return ['--import', compileCache, fileURLToPath(new URL(`../../../${name}/src/main.ts`, import.meta.url))];
}

/** The command line itself. */
export const commandLine = fileURLToPath(new URL('../../bin/mutirao.js', import.meta.url));
