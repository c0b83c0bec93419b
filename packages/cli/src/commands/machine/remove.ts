import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveProviderAddress } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<machine>', 'name of the machine')
    .option('--provider <name>', 'the provider of the machine', 'lab')
    .action((machine: string, options: { readonly provider: string }) =>
      act((context) => removeMachine(context, machine, options.provider)),
    );
}

/**
 * Withdraws the credential of a machine, ends its agent and has its provider forget it; what runs there runs again
 * elsewhere.
 */
export async function removeMachine(
  context: CommandContext,
  machine: string,
  providerName: string,
): Promise<ExitStatus> {
  const slash = machine.indexOf('/');
  const { providerId, address } = await resolveProviderAddress(
    context,
    slash > 0 ? machine.slice(0, slash) : providerName,
  );
  const name = machine.slice(slash + 1);
  await (await context.provider(address)).removeMachine({ name });
  printResult(context.output, {
    json: () => ({ provider_id: providerId, address }),
    table: () => [
      `Machine ${providerId}/${name} is removed: its agent is disconnected and its credential is revoked. Tasks that ` +
        'ran there run again elsewhere.',
    ],
    quiet: () => [`${providerId}/${name}`],
  });
  return 0;
}
