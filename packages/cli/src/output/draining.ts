import { plural } from '@mutirao/core/shared';

import { showInstant } from './units.ts';

/**
 * That a provider is draining, since when and why, as the rest of a sentence. @param runningTasks what still runs
 * there; undefined where nobody knows.
 */
export function describeDraining({
  sinceUnixMs,
  reason,
  runningTasks,
}: {
  readonly sinceUnixMs: number;
  readonly reason: string;
  readonly runningTasks: number | undefined;
}): string {
  const running = runningTasks === undefined ? '' : `, ${plural(runningTasks, 'task')} still running`;
  return `draining (since ${showInstant(sinceUnixMs)}${running})${reason === '' ? '' : `: ${reason}`}`;
}
