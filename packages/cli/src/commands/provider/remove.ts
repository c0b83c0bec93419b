import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<provider>', 'name of the provider')
    .action((provider: string) => act((context) => removeProvider(context, provider)));
}

/** Makes the broker stop using a provider that cannot be reached, until it is added again. */
export async function removeProvider(context: CommandContext, providerId: string): Promise<ExitStatus> {
  await (await context.broker()).removeProvider({ providerId });
  printResult(context.output, {
    json: () => ({ provider_id: providerId, address: '' }),
    table: () => [
      `Provider ${providerId} is removed. Tasks that ran there run again elsewhere; "mutirao provider add" uses it again.`,
    ],
    quiet: () => [providerId],
  });
  return 0;
}
