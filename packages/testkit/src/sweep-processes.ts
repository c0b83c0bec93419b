import { readdirSync, readFileSync } from 'node:fs';

/**
 * Ends all processes that have the variable in their environment, but for this one: what daemons and jobs under test
 * left behind.
 */
export function sweepProcesses(name: string, value: string): void {
  for (const pid of readdirSync('/proc').filter((one) => /^\d+$/.test(one) && Number(one) !== process.pid)) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`${name}=${value}`))
        process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It is gone, or is not ours.
    }
  }
}
