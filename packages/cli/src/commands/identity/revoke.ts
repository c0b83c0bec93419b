import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { identityFolder, identityPaths, revokeSerial } from '@mutirao/runtime/identity';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<certificate>', "the certificate's file, or its serial number")
    .action((certificate: string) => act((context) => Promise.resolve(revoke(context, certificate))));
}

/** Makes the servers of this home folder refuse a user's certificate. */
export function revoke(context: CommandContext, given: string): ExitStatus {
  const folder = identityFolder(context.home);
  if (!existsSync(identityPaths(folder).authorityCertificate))
    throw new MutiraoError('MUT_BAD_CONFIG', `there is no identity in ${folder}; make one with "mutirao init"`);
  const path = resolve(context.directory, given);
  const { serial, remark } = existsSync(path) ? readSerial(path) : { serial: given, remark: '' };
  revokeSerial(folder, serial, remark);
  printResult(context.output, {
    json: () => ({ serial: serial.toLowerCase(), file: identityPaths(folder).revoked }),
    table: () => [
      `Servers of this home folder refuse ${serial.toLowerCase()} from now on. Those of other home ` +
        `folders need a copy of ${identityPaths(folder).revoked}.`,
    ],
    quiet: () => [serial.toLowerCase()],
  });
  return 0;
}

function readSerial(path: string): { readonly serial: string; readonly remark: string } {
  try {
    const certificate = new X509Certificate(readFileSync(path));
    return { serial: certificate.serialNumber, remark: certificate.subject };
  } catch (error) {
    throw new MutiraoError('MUT_BAD_REQUEST', `${path} holds no certificate; expected PEM text, or a serial number`, {
      cause: error,
    });
  }
}
