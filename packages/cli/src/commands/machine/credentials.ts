import type { Command } from 'commander';

import { MachineCredentialStatus } from '@mutirao/api/provider';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration } from '../../output/units.ts';
import { resolveProviderAddress } from '../../selectors.ts';
import { getEnumName } from '../../wire/names.ts';

export function define(command: Command, act: Act): void {
  command
    .option('--provider <name>', 'the provider of the machines', 'lab')
    .action((options: { readonly provider: string }) => act((context) => listCredentials(context, options.provider)));
}

/** Lists which names a provider has invited, and which of them have a credential. */
export async function listCredentials(context: CommandContext, providerName: string): Promise<ExitStatus> {
  const { providerId, address } = await resolveProviderAddress(context, providerName);
  const { credentials } = await (await context.provider(address)).listMachineCredentials();
  const now = context.clock.now();
  printResult(context.output, {
    json: () =>
      credentials.map(({ name, status, sinceUnixMs, expiresUnixMs }) => ({
        machine_id: `${providerId}/${name}`,
        provider_id: providerId,
        status: getEnumName(MachineCredentialStatus, status),
        since_unix_ms: sinceUnixMs,
        expires_unix_ms: expiresUnixMs ?? null,
      })),
    table: () =>
      credentials.length === 0
        ? [`Provider ${providerId} has invited no machines; "mutirao machine invite" does.`]
        : renderTable(
            [
              { title: 'MACHINE' },
              { title: 'STATUS' },
              { title: 'DURATION', right: true },
              { title: 'INVITATION EXPIRES IN', right: true },
            ],
            credentials.map(({ name, status, sinceUnixMs, expiresUnixMs }) => [
              `${providerId}/${name}`,
              getEnumName(MachineCredentialStatus, status),
              showDuration(Math.max(0, now - sinceUnixMs)),
              expiresUnixMs === undefined ? '-' : showDuration(Math.max(0, expiresUnixMs - now)),
            ]),
          ),
    quiet: () => credentials.map(({ name }) => `${providerId}/${name}`),
  });
  return 0;
}
