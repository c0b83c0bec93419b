import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';

import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { endLeftovers } from '../grid/leftovers.ts';
import { findGridRecord, gridJson, isElsewhere, isSupervised } from '../grid/record.ts';
import { printResult } from '../output/print-result.ts';

export function define(command: Command, act: Act): void {
  command.action(() => act(stopGrid));
}

/** The supervisor gives its processes half a minute to drain; this is longer. */
const waitMax = 60_000;

/** Stops the home folder's grid and waits until all of it has ended. Without a grid there is nothing to do. */
export async function stopGrid(context: CommandContext): Promise<ExitStatus> {
  const grid = findGridRecord(context.home);
  if (grid === undefined) {
    context.output.note(`No grid runs in ${context.home}.`);
    return 0;
  }
  if (isElsewhere(grid))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the grid in ${context.home} runs on ${grid.host ?? ''}; expected "mutirao down" there`,
    );
  if (isSupervised(grid)) process.kill(grid.pid, 'SIGTERM');
  else await endLeftovers(context, grid);
  const until = context.clock.now() + waitMax;
  while (isSupervised(grid)) {
    if (context.signal.aborted) throw new MutiraoError('MUT_CANCELLED', 'stopped waiting; the grid goes on ending');
    if (context.clock.now() > until)
      throw new MutiraoError(
        'MUT_UNREACHABLE',
        `the grid (process ${grid.pid}) has not ended after ${waitMax / 1000} s`,
      );
    await context.sleep(50);
  }
  printResult(context.output, {
    json: () => gridJson(context.home, grid),
    table: () => [`The grid in ${context.home} has stopped.`],
    quiet: () => [grid.pid],
  });
  return 0;
}
