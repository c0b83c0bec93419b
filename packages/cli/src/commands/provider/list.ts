import type { Command } from 'commander';

import type { ProviderRecord } from '@mutirao/api/broker';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { providerJson } from '../../json/documents.ts';
import { renderTable } from '../../output/table.ts';
import { tell } from '../../output/tell.ts';

export function define(command: Command, act: Act): void {
  command.action(() => act(listProviders));
}

/** Lists the broker's providers. */
export async function listProviders(context: CommandContext): Promise<ExitStatus> {
  const { providers } = await (await context.broker()).listProviders();
  tell(context.output, {
    json: () => providers.map(providerJson),
    table: () => (providers.length === 0 ? ['No providers. Add one with "mutirao provider add NAME ADDRESS".'] : providerTable(providers)),
    quiet: () => providers.map((provider) => provider.providerId),
  });
  return 0;
}

/** Providers as a table. */
export function providerTable(providers: readonly ProviderRecord[]): string[] {
  return renderTable(
    [{ title: 'PROVIDER' }, { title: 'ADDRESS' }, { title: 'CONNECTED' }, { title: 'MACHINES', right: true }, { title: 'LAST ERROR' }],
    providers.map((provider) => [
      provider.providerId, provider.address, provider.connected ? 'yes' : 'no', String(provider.machines), provider.connected ? '' : provider.lastError,
    ]),
  );
}
