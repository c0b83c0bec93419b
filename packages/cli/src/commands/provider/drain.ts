import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveProviderAddress } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<provider>', 'name or address of the provider')
    .option('--reason <text>', 'the reason, which "mutirao provider list" prints', '')
    .option('--now', 'also end running tasks; they run again elsewhere, and it does not count as a failure')
    .action((provider: string, options: DrainOptions) => act((context) => drainProvider(context, provider, options)));
}

interface DrainOptions {
  readonly reason: string;
  readonly now?: true;
}

/**
 * Drains a provider until it is undrained: it withdraws what is queued, and lets what runs end or gives that back, too.
 */
export async function drainProvider(
  context: CommandContext,
  name: string,
  { reason, now }: DrainOptions,
): Promise<ExitStatus> {
  const { providerId, address } = await resolveProviderAddress(context, name);
  await (await context.provider(address)).drain({ reason, atOnce: now === true });
  printResult(context.output, {
    json: () => ({ provider_id: providerId, address }),
    table: () => [
      `Provider ${providerId} is draining: it takes no new tasks, and what runs there ` +
        `${now === true ? 'is given back' : 'ends by itself'}. "mutirao provider undrain ${name}" makes it take ` +
        'work again.',
    ],
    quiet: () => [providerId],
  });
  return 0;
}
