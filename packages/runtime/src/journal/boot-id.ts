import { readFileSync } from 'node:fs';

/** Digits that a database keeps exactly. */
const digits = 12;

/**
 * A number for the host's present run, another one after each start of the host; undefined where the system names none.
 */
export function readBootId(path = '/proc/sys/kernel/random/boot_id'): number | undefined {
  try {
    const id = Number.parseInt(readFileSync(path, 'latin1').replaceAll('-', '').slice(0, digits), 16);
    return Number.isSafeInteger(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
