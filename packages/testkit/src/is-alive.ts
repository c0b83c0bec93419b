import { readFileSync } from 'node:fs';

/** Whether a process lives; a zombie that nobody has reaped yet does not. False for 0 and less. */
export function isAlive(pid: number): boolean {
  try {
    return pid > 0 && !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
