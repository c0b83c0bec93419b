import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

import { quoteForShell } from '@mutirao/core/bag';

/** How this command was started. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Path of the script. */
  readonly script: string | undefined;
}

const name = 'mutirao';

/** How the user calls this command line: through npx, by its name on the PATH, or by its path. */
export function calledAs({ environment, script }: Surroundings): string {
  if (environment['npm_command'] === 'exec') return `npx ${name}`;
  const isOnPath = (environment['PATH'] ?? '').split(delimiter).some((folder) => isProgram(folder));
  return isOnPath || script === undefined ? name : quoteForShell(script);
}

function isProgram(folder: string): boolean {
  if (folder === '') return false;
  try {
    accessSync(join(folder, name), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
