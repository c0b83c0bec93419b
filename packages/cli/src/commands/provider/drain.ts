import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { tell } from '../../output/tell.ts';
import { resolveProviderAddress } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<provider>', 'its name, or an address')
    .option('--reason <text>', 'why, for its log', '')
    .action((provider: string, options: { reason: string }) => act((context) => drainProvider(context, provider, options.reason)));
}

/** Makes a provider take no more work: it withdraws what is queued and lets what runs end. */
export async function drainProvider(context: CommandContext, name: string, reason: string): Promise<ExitStatus> {
  const { providerId, address } = await resolveProviderAddress(context, name);
  await (await context.provider(address)).drain({ reason });
  tell(context.output, {
    json: () => ({ provider_id: providerId, address }),
    table: () => [`Provider ${providerId} takes no more work; what runs there ends by itself.`],
    quiet: () => [providerId],
  });
  return 0;
}
