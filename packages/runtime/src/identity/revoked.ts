import { existsSync, readFileSync, statSync } from 'node:fs';
import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '../files/index.ts';
import { identityPaths } from './folder.ts';

/** Serial numbers of revoked certificates, as the file of an identity folder lists them. */
export class RevokedSerials {
  readonly #path: string;
  #stamp = '';
  #serials: ReadonlySet<string> = new Set();

  constructor(folder: string) {
    this.#path = identityPaths(folder).revoked;
    this.refresh();
  }

  /** Reads the file again if it has changed. */
  refresh(): void {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    const stamp = found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`;
    if (stamp === this.#stamp) return;
    this.#serials = found === undefined ? new Set() : readSerials(this.#path);
    this.#stamp = stamp;
  }

  has(serial: string): boolean {
    return this.#serials.has(serial.toLowerCase());
  }
}

function readSerials(path: string): Set<string> {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().toLowerCase());
  return new Set(lines.filter((line) => line !== ''));
}

/**
 * Revokes a certificate; the servers of this home refuse it within a second or two.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST
 */
export function revokeSerial(folder: string, serial: string, remark: string): void {
  const path = identityPaths(folder).revoked;
  const wanted = serial.replaceAll(':', '').toLowerCase();
  if (!/^[0-9a-f]{2,40}$/.test(wanted))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `serial is "${serial}"; expected the hexadecimal serial number of a certificate, or its file`,
    );
  const listed = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (existsSync(path) && readSerials(path).has(wanted)) return;
  writeAtomic(
    path,
    `${listed}${listed === '' || listed.endsWith('\n') ? '' : '\n'}${wanted} # ${remark.replaceAll('\n', ' ')}\n`,
  );
}
