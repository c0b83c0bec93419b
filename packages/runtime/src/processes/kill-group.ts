import { invariant } from '@mutirao/core/shared';

/**
 * Sends a signal to every process of a group; false when the group has no process left.
 *
 * Signal 0 only asks. A group that holds nothing but zombies counts as left until they are reaped.
 */
export function killGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  invariant(Number.isInteger(pgid) && pgid > 1, `process group ${pgid} is not one to signal`);
  return send(-pgid, signal);
}

/** Sends a signal to one process; false when it is not there. */
export function killProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  invariant(Number.isInteger(pid) && pid > 1, `process ${pid} is not one to signal`);
  return send(pid, signal);
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')) return false;
    throw error;
  }
}
