import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';

/**
 * The folder where Mutirao keeps its files: `$MUTIRAO_HOME`, or `~/.mutirao`. Absolute; it may not exist yet. @throws
 * {MutiraoError} MUT_BAD_CONFIG for an account without a home directory.
 */
export function mutiraoHome(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const given = environment['MUTIRAO_HOME'];
  return given === undefined || given === '' ? join(accountHome(), '.mutirao') : resolve(given);
}

function accountHome(): string {
  try {
    return homedir();
  } catch (error) {
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `account ${process.getuid?.() ?? 0} has no home directory, and HOME is not set; set MUTIRAO_HOME to a ` +
        'folder that this account may write',
      { cause: error },
    );
  }
}
