import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

import { isErrorCode, MutiraoError } from '@mutirao/api/errors';
import { prepareHome } from '@mutirao/runtime/files';
import { ownCommandLine, startProcess } from '@mutirao/runtime/processes';

import type { CommandContext } from '../context.ts';
import { logPath } from './log-path.ts';
import { findGridRecord, type GridRecord } from './record.ts';

const startMax = 60_000;
const pollMs = 25;

/**
 * Runs `mutirao up` in a session of its own, and resolves when its grid is ready.
 *
 * @throws {MutiraoError} what it told when it ended instead.
 */
export async function detachGrid(context: CommandContext, args: readonly string[]): Promise<GridRecord> {
  const log = logPath(context.home, 'up');
  prepareHome(context.home);
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  rmSync(log, { force: true });
  let hasEnded = false;
  const [command, ...own] = ownCommandLine();
  const { pid = -1 } = startProcess({
    command,
    args: [...own, 'up', '--home', context.home, ...args],
    stderr: { kind: 'file', path: log },
    onExit: () => {
      hasEnded = true;
    },
  });
  const until = context.clock.now() + startMax;
  for (;;) {
    const grid = findGridRecord(context.home);
    if (grid !== undefined && grid.pid === pid && grid.broker !== '') return grid;
    if (hasEnded || context.clock.now() > until) throw getFailure(readFileSync(log, 'utf8'));
    if (context.signal.aborted) {
      process.kill(pid, 'SIGTERM');
      throw new MutiraoError('MUT_CANCELLED', 'the grid was interrupted while it started, and stops');
    }
    await context.sleep(pollMs);
  }
}

/** The error that the command in the background told, as our own. */
function getFailure(log: string): MutiraoError {
  const [, code, message] = /^error: (MUT_[A-Z_]+) (.*)$/m.exec(log) ?? [];
  return new MutiraoError(
    code !== undefined && isErrorCode(code) ? code : 'MUT_UNREACHABLE',
    message ?? `the grid did not start: ${log.trim().slice(-400)}`,
  );
}
