import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

import { quoteForShell } from '@mutirao/core/bag';

/**
 * How a shell starts the command line: by its name where the path has it, else by the place of the installation that
 * this is a part of.
 */
export function findProgram(path: string, folder: string): string {
  const name = 'mutirao';
  if (path.split(delimiter).some((one) => one !== '' && isExecutable(join(one, name)))) return name;
  for (let at = folder; ; at = dirname(at)) {
    const place = join(at, 'node_modules', '.bin', name);
    if (isExecutable(place)) return quoteForShell(place);
    if (dirname(at) === at) return name;
  }
}

/** A home folder where it has to be named, empty where it is the usual one. */
export function nameHome(home: string): string {
  return home === join(homedir(), '.mutirao') ? '' : home;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
