import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

import { quoteForShell } from '@mutirao/core/bag';
import { isOnPath, isProgram } from '@mutirao/runtime/processes';

/** What a way to start the command line depends on. */
export interface ProgramPlace {
  /** The folders of programs, as in PATH. */
  readonly path: string;
  /** A folder of the installation. */
  readonly folder: string;
  /** The home folder of the grid. */
  readonly home: string;
}

/**
 * How a shell starts the command line of a grid: by its name where PATH has it, else by the place of the installation;
 * with the home folder of the grid where that is not the usual one.
 */
export function findProgram({ path, folder, home }: ProgramPlace): string {
  const where = home === join(homedir(), '.mutirao') ? '' : `MUTIRAO_HOME=${quoteForShell(home)} `;
  return where + (isOnPath(name, path) ? name : findInstalled(folder));
}

const name = 'mutirao';

function findInstalled(folder: string): string {
  const place = join(folder, 'node_modules', '.bin', name);
  if (isProgram(place)) return quoteForShell(place);
  return dirname(folder) === folder ? name : findInstalled(dirname(folder));
}
