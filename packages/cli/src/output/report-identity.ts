import { readInteger } from '../usage/read-integer.ts';
import type { IdentityDescription } from '@mutirao/runtime/identity';

import type { shapes, JsonOf } from '../json/shapes.ts';
import type { Output } from './output.ts';
import { printResult } from './print-result.ts';

const day = 24 * 3_600_000;
/** Stands for a certificate that is not there. */
const none = { names: [], serial: '', validUntil: null };

/** Reads how many days a certificate is valid, in milliseconds. @throws {MutiraoError} MUT_BAD_REQUEST */
export function readDays(text: string): number {
  return readInteger('--days', text, { min: 1, max: 3650 }) * day;
}

/** Says what an identity folder holds. @param next what to do with it. */
export function reportIdentity(
  output: Output,
  { folder, authorityFingerprint, hasAuthorityKey, user, host }: IdentityDescription,
  next: readonly string[],
): void {
  printResult(output, {
    json: () => {
      const [userParts, hostParts] = [user ?? none, host ?? none];
      return {
        folder,
        authority_sha256: authorityFingerprint.replaceAll(':', '').toLowerCase(),
        signs: hasAuthorityKey,
        user_id: userParts.names.join(),
        user_serial: userParts.serial,
        user_until_unix_ms: userParts.validUntil,
        hosts: hostParts.names,
        host_serial: hostParts.serial,
        host_until_unix_ms: hostParts.validUntil,
      } satisfies JsonOf<typeof shapes.identity>;
    },
    table: () => [
      `Identity in ${folder}`,
      '  authority  ' +
        `${authorityFingerprint.slice(0, 29)}...${hasAuthorityKey ? ', with its key: it can make certificates' : ''}`,
      user === undefined
        ? '  user       none'
        : `  user       ${user.names.join(', ')}, until ${showDay(user.validUntil)}, serial ${user.serial}`,
      host === undefined
        ? '  host       none'
        : `  host       ${host.names.join(', ')}, until ${showDay(host.validUntil)}, serial ${host.serial}`,
      ...next,
    ],
    quiet: () => [folder],
  });
}

function showDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
