import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where every host has the programs that we start. */
const standard = ['/usr/bin', '/bin'];

/**
 * Adds the standard folders to a search path that lacks them, behind its own: without them neither we nor the shells of
 * tasks find `mkfifo` or `cat`. One that is not set is left to the system's default.
 */
export function completeSearchPath(environment: Record<string, string | undefined>): void {
  const { PATH: own } = environment;
  if (own === undefined) return;
  const missing = standard.filter((folder) => !own.split(':').includes(folder));
  if (missing.length > 0) environment['PATH'] = [own, ...missing].filter((part) => part !== '').join(':');
}

/** Whether one of the folders of a search path has a program of that name. Parts that name no folder do not count. */
export function isOnPath(name: string, searchPath = ''): boolean {
  return searchPath.split(delimiter).some((folder) => folder !== '' && isProgram(join(folder, name)));
}

/** Whether a path leads to a file that this account may execute. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
