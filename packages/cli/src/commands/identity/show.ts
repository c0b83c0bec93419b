import type { Command } from 'commander';

import { describeIdentity, identityFolder } from '@mutirao/runtime/identity';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { reportIdentity } from '../../output/report-identity.ts';

export function define(command: Command, act: Act): void {
  command.action(() => act((context) => Promise.resolve(show(context))));
}

/** Says what identity the home folder has. */
export function show(context: CommandContext): ExitStatus {
  reportIdentity(context.output, describeIdentity(identityFolder(context.home)), []);
  return 0;
}
