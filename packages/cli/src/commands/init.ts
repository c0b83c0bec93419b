import path from 'node:path';

import type { Command } from 'commander';

import { accountName, prepareHome } from '@mutirao/runtime/files';
import { identityFolder, initIdentity } from '@mutirao/runtime/identity';

import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { readDays, reportIdentity } from '../output/report-identity.ts';

/** What an identity is made with. */
export interface InitOptions {
  readonly host?: readonly string[];
  /** Where the authority's key goes. */
  readonly authority?: string;
  readonly days: string;
}

export function define(command: Command, act: Act): void {
  command
    .option('--host <name...>', 'more names of this host, in addition to its own name and addresses')
    .option(
      '--authority <folder>',
      "keep the authority's private key in this folder, for example on a removable disk; an existing key is " +
        'moved there',
    )
    .option('--days <count>', 'days until the certificates expire', '365')
    .action((options: InitOptions) => act((context) => init(context, options)));
}

/** Makes the identity of the home folder, or its certificates again. */
export async function init(context: CommandContext, { host, authority, days }: InitOptions): Promise<ExitStatus> {
  prepareHome(context.home);
  const folder = identityFolder(context.home);
  const made = await initIdentity({
    folder,
    user: accountName(),
    hosts: host ?? [],
    ...(authority === undefined ? {} : { authority: path.resolve(authority) }),
    lasts: readDays(days),
    now: context.clock.now(),
  });
  reportIdentity(context.output, made, [
    'Servers may listen for other hosts now. For another host: mutirao identity issue --for HOST --out FOLDER.',
  ]);
  return 0;
}
