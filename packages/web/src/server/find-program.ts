import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

import { quoteForShell } from '@mutirao/core/bag';

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
  const isOnPath = path.split(delimiter).some((one) => one !== '' && isExecutable(join(one, name)));
  return where + (isOnPath ? name : findInstalled(folder));
}

const name = 'mutirao';

function findInstalled(folder: string): string {
  const place = join(folder, 'node_modules', '.bin', name);
  if (isExecutable(place)) return quoteForShell(place);
  return dirname(folder) === folder ? name : findInstalled(dirname(folder));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
