import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The folder where Mutirao keeps its files: `$MUTIRAO_HOME`, or `~/.mutirao`. Absolute; it may not exist yet. */
export function mutiraoHome(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const given = environment['MUTIRAO_HOME'];
  return given === undefined || given === '' ? join(homedir(), '.mutirao') : resolve(given);
}
