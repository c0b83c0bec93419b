import { fileURLToPath } from 'node:url';

/** The processes of a grid. */
export type ProcessName = 'agent' | 'broker' | 'cluster' | 'provider';

/** The program of a process. */
export function programOf(name: ProcessName): string {
  return fileURLToPath(new URL(`../../../${name}/src/main.ts`, import.meta.url));
}

/** The command line itself. */
export const commandLine = fileURLToPath(new URL('../../bin/mutirao.js', import.meta.url));
