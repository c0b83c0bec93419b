import { readFileSync } from 'node:fs';

/** The address that a process wrote to a file of its own; undefined where there is none. */
export function addressIn(path: string): string | undefined {
  try {
    const { address } = JSON.parse(readFileSync(path, 'utf8')) as { address?: unknown };
    return typeof address === 'string' ? address : undefined;
  } catch {
    return undefined; // Not there, or not ours: as if it had never been written.
  }
}
