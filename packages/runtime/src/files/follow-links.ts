import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { nameOfBytes } from '@mutirao/api/codecs';
import { fsPath } from './byte-names.ts';

/**
 * A path with the links on the way to it followed, as far as it exists; what does not exist yet stays as it is named.
 *
 * Never throws. Names need not be UTF-8: see `fsPath`.
 */
export function followLinks(path: string): string {
  try {
    return nameOfBytes(realpathSync.native(fsPath(path), { encoding: 'buffer' }));
  } catch {
    return path === dirname(path) ? path : join(followLinks(dirname(path)), basename(path));
  }
}

/** As `followLinks`; waits for the file system without holding up this process. Never rejects. */
export async function followLinksLater(path: string): Promise<string> {
  try {
    return nameOfBytes(await realpath(fsPath(path), { encoding: 'buffer' }));
  } catch {
    return path === dirname(path) ? path : join(await followLinksLater(dirname(path)), basename(path));
  }
}
