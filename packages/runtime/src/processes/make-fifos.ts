import { execFileSync } from 'node:child_process';

/**
 * Makes FIFOs for this user alone. Cost: starts a process, and waits for it. @throws Error when one of them cannot be
 * made, or is there.
 */
export function makeFifos(paths: readonly string[]): void {
  execFileSync('mkfifo', ['-m', '600', ...paths], { stdio: ['ignore', 'ignore', 'pipe'] });
}
