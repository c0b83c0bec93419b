import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveProviderAddress } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<provider>', 'name or address of the provider')
    .action((provider: string) => act((context) => undrainProvider(context, provider)));
}

/** Makes a provider that is draining take work again; harmless where it does. */
export async function undrainProvider(context: CommandContext, name: string): Promise<ExitStatus> {
  const { providerId, address } = await resolveProviderAddress(context, name);
  await (await context.provider(address)).undrain();
  printResult(context.output, {
    json: () => ({ provider_id: providerId, address }),
    table: () => [`Provider ${providerId} takes work.`],
    quiet: () => [providerId],
  });
  return 0;
}
