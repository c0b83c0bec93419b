import { resolve } from 'node:path';
import type { Command } from 'commander';

import { identityFolder, issueIdentity } from '@mutirao/runtime/identity';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { readDays, reportIdentity } from '../../output/report-identity.ts';

/** The host or user that certificates are for. */
export interface IssueOptions {
  readonly for?: readonly string[];
  readonly user?: string;
  readonly out: string;
  readonly days: string;
}

export function define(command: Command, act: Act): void {
  command
    .option('--for <host...>', 'names and addresses of the host that the certificate is for')
    .option('--user <name>', 'name of the user that the certificate is for')
    .requiredOption('--out <folder>', 'folder for the new files')
    .option('--days <count>', 'days until the certificate expires', '365')
    .action((options: IssueOptions) => act((context) => issue(context, options)));
}

/** Makes certificates for another host, another user or both, signed by this home's authority. */
export async function issue(context: CommandContext, options: IssueOptions): Promise<ExitStatus> {
  const made = await issueIdentity({
    folder: identityFolder(context.home),
    out: resolve(context.directory, options.out),
    hosts: options.for ?? [],
    user: options.user,
    lasts: readDays(options.days),
    now: context.clock.now(),
  });
  reportIdentity(context.output, made, [
    'Carry the folder over by a way that you trust; there it is MUTIRAO_HOME/identity.',
  ]);
  return 0;
}
