import { rmSync } from 'node:fs';

import type { CommandContext } from '../context.ts';
import { processMarks } from './programs.ts';
import { gridRecordPath, isOurs, type GridRecord } from './record.ts';

/** How long a process that was asked to end may take. */
export const endMax = 10_000;

/** Ends what is left of a grid whose supervisor was killed, and forgets the grid. */
export async function endLeftovers(
  context: Pick<CommandContext, 'sleep' | 'clock' | 'home' | 'output'>,
  grid: GridRecord,
): Promise<void> {
  const alive = (): number[] =>
    Object.values(grid.processes).filter((pid) => processMarks.some((mark) => isOurs(pid, mark)));
  const left = alive();
  if (left.length > 0) context.output.note(`Stopping ${left.length} processes of a grid whose supervisor has ended.`);
  for (const pid of left) process.kill(pid, 'SIGTERM');
  const until = context.clock.now() + endMax;
  while (alive().length > 0 && context.clock.now() < until) await context.sleep(50);
  for (const pid of alive()) process.kill(pid, 'SIGKILL');
  rmSync(gridRecordPath(context.home), { force: true });
}
