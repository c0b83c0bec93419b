import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { tell } from '../../output/tell.ts';
import { resolveProviderAddress } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<provider>', 'its name, or an address')
    .option('--reason <text>', 'why, for its log', '')
    .option('--now', 'give back what runs, too; its tasks run again elsewhere')
    .action((provider: string, options: DrainOptions) => act((context) => drainProvider(context, provider, options)));
}

interface DrainOptions {
  readonly reason: string;
  readonly now?: true;
}

/** Makes a provider take no more work: it withdraws what is queued, and lets what runs end or gives that back, too. */
export async function drainProvider(context: CommandContext, name: string, { reason, now }: DrainOptions): Promise<ExitStatus> {
  const { providerId, address } = await resolveProviderAddress(context, name);
  await (await context.provider(address)).drain({ reason, atOnce: now === true });
  tell(context.output, {
    json: () => ({ provider_id: providerId, address }),
    table: () => [`Provider ${providerId} takes no more work; what runs there ${now === true ? 'is given back' : 'ends by itself'}.`],
    quiet: () => [providerId],
  });
  return 0;
}
