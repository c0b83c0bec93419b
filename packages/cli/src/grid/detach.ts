import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { prepareHome } from '@mutirao/runtime/files';
import { ownCommandLine, startProcess } from '@mutirao/runtime/processes';

import type { CommandContext } from '../context.ts';
import { logPath } from './log-path.ts';
import { findGridRecord, type GridRecord } from './record.ts';
import { describeDelay, describeEnd } from './start-failure.ts';

const startMax = 60_000;
const pollMs = 25;

/** Starts `mutirao up` in the background. @returns its process id; undefined if it could not be started. */
export type StartUp = (args: readonly string[], log: string, onExit: (status: number) => void) => number | undefined;

/**
 * Runs `mutirao up` in a session of its own, and resolves when its grid is ready.
 *
 * @throws {MutiraoError} the error that it printed if it ended instead; MUT_UNREACHABLE with what has started so far if
 * it is not ready in time.
 */
export async function detachGrid(
  context: CommandContext,
  args: readonly string[],
  startUp: StartUp = startInBackground,
): Promise<GridRecord> {
  const log = logPath(context.home, 'up');
  prepareHome(context.home);
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  rmSync(log, { force: true });
  let ended: { readonly status: number } | undefined;
  const pid = startUp(['up', '--home', context.home, ...args], log, (status) => {
    ended = { status };
  });
  const until = context.clock.now() + startMax;
  for (;;) {
    const grid = findOwn(context.home, pid);
    if (grid !== undefined && grid.broker !== '') return grid;
    if (pid === undefined || ended !== undefined) throw describeEnd(log, ended?.status);
    if (context.clock.now() > until) throw describeDelay(log, startMax / 1000, grid);
    if (context.signal.aborted) throw interrupt(pid);
    await context.sleep(pollMs);
  }
}

/** The record of the grid of a process, also while it starts. */
function findOwn(home: string, pid: number | undefined): GridRecord | undefined {
  const grid = findGridRecord(home);
  return grid?.pid === pid ? grid : undefined;
}

function interrupt(pid: number): MutiraoError {
  process.kill(pid, 'SIGTERM');
  return new MutiraoError('MUT_CANCELLED', 'interrupted while the grid was starting; the grid stops');
}

function startInBackground(args: readonly string[], log: string, onExit: (status: number) => void): number | undefined {
  const [command, ...own] = ownCommandLine();
  return startProcess({
    command,
    args: [...own, ...args],
    stderr: { kind: 'file', path: log },
    onExit: ({ status }) => {
      onExit(status);
    },
  }).pid;
}
