import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<provider>', 'name of the provider')
    .argument('<address>', 'address of the provider: HOST:PORT')
    .action((provider: string, address: string) => act((context) => addProvider(context, provider, address)));
}

/** Makes the broker use a provider, also after a restart. */
export async function addProvider(context: CommandContext, providerId: string, address: string): Promise<ExitStatus> {
  await (await context.broker()).addProvider({ providerId, address });
  printResult(context.output, {
    json: () => ({ provider_id: providerId, address }),
    table: () => [`The broker uses provider ${providerId} at ${address}.`],
    quiet: () => [providerId],
  });
  return 0;
}
