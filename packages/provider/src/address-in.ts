import { readFileSync } from 'node:fs';

/** The address that a process wrote to a file of its own, under a name; undefined where there is none. */
export function addressIn(path: string, name = 'address'): string | undefined {
  try {
    const { [name]: address } = JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>;
    return typeof address === 'string' ? address : undefined;
  } catch {
    return undefined; // Not there, or not ours: as if it had never been written.
  }
}
