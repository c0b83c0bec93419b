import { join } from 'node:path';

/** Where a process of a home folder's grid logs. */
export function logPath(home: string, name: string): string {
  return join(home, 'logs', `${name}.log`);
}
