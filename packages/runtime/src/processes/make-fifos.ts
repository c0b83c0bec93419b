import { execFileSync } from 'node:child_process';

/**
 * Makes FIFOs for this user alone. Cost: starts a process, and waits for it. @throws Error when one of them cannot be
 * made, or is there.
 */
export function makeFifos(paths: readonly string[]): void {
  // Not `mkfifo -m`, which changes the mode afterwards, and needs /proc for it.
  execFileSync('/bin/sh', ['-c', 'umask 177; exec mkfifo "$@"', 'sh', ...paths], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}
