import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { makePrivateFile } from '@mutirao/runtime/files';

/**
 * The name by which providers know the broker of a home folder: drawn up at its first start and kept in the folder, so
 * that it is the same after the folder was moved or
 * put back from a back-up. Only letters, digits, "_", "." and "-", as providers want it.
 *
 * @throws Error of the file system.
 */
export function readBrokerName(home: string, ownerId: string): string {
  const folder = join(home, 'broker');
  const file = join(folder, 'name');
  const kept = readName(file);
  if (kept !== undefined) return kept;
  const place = createHash('sha256').update(`${hostname()}:${home}`).digest('hex').slice(0, 12);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  makePrivateFile(file, `${ownerId.replace(/[^\w.-]/g, '_').slice(0, 48)}-${place}\n`);
  const made = readName(file);
  if (made === undefined)
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `${file} holds no name of a broker; expected 1 to 64 letters, digits, "_", "." or "-". Remove the file: ` +
        'the broker then takes another name',
    );
  return made;
}

function readName(file: string): string | undefined {
  try {
    const name = readFileSync(file, 'utf8').trim();
    return /^[\w.-]{1,64}$/.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}
