import { killProcess } from './kill-group.ts';
import { listDescendants } from './subreaper.ts';

/**
 * Sends a signal that can be handled to all processes inside sandboxes; false when there are none yet.
 *
 * It does not go to the process group: bubblewrap itself is in it and handles no signal, and the whole sandbox would be
 * killed with it at once.
 *
 * @param monitors processes of bubblewrap that watch the sandboxes from outside.
 */
export function signalSandboxed(monitors: readonly number[], signal: NodeJS.Signals): boolean {
  const inside = monitors.flatMap(listDescendants);
  for (const pid of inside) killProcess(pid, signal);
  return inside.length > 0;
}
