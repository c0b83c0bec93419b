import type { Command } from 'commander';

import { parseDuration } from '@mutirao/formats';
import { isLoopback, isSocket, parseAddress } from '@mutirao/runtime/rpc';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { showWithOffset } from '../../local-time.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveProviderAddress } from '../../selectors.ts';

interface InviteOptions {
  readonly provider: string;
  readonly valid?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<machine>', 'name for the machine in the grid')
    .option('--valid <duration>', 'how long the invitation can be used (default: 24h)')
    .option('--provider <name>', 'the provider that the machine will join', 'lab')
    .action((machine: string, options: InviteOptions) => act((context) => inviteMachine(context, machine, options)));
}

/** Makes an invitation and says what to run on the machine. */
export async function inviteMachine(
  context: CommandContext,
  machine: string,
  { provider: providerName, valid }: InviteOptions,
): Promise<ExitStatus> {
  const validMs = valid === undefined ? 0 : parseDuration(valid);
  const slash = machine.indexOf('/');
  const { providerId, address: providerAddress } = await resolveProviderAddress(
    context,
    slash > 0 ? machine.slice(0, slash) : providerName,
  );
  const name = machine.slice(slash + 1);
  const { invitation, expiresUnixMs, address, authority } = await (
    await context.provider(providerAddress)
  ).inviteMachine({ name, validMs, unlessRemoved: false });
  const machineId = `${providerId}/${name}`;
  const command =
    `${authority === '' ? '' : `MUTIRAO_CA=${authority} `}mutirao run agent --provider ${address} --machine-id ` +
    `${machineId} --invitation -`;
  printResult(context.output, {
    json: () => ({
      machine_id: machineId,
      provider_id: providerId,
      invitation,
      expires_unix_ms: expiresUnixMs,
      address,
      command,
    }),
    table: () => [
      `The invitation of ${machineId}, good once, until ${showWithOffset(expiresUnixMs)}:`,
      '',
      `  ${invitation}`,
      '',
      'Run this on the machine, and give it the invitation as a line of its standard input:',
      '',
      `  ${command}`,
    ],
    quiet: () => [invitation],
  });
  if (isNear(address))
    context.output.note(
      `Provider ${providerId} accepts only agents on its own host, so this command works only there; start it ` +
        'with --listen-agents for machines elsewhere, or use "mutirao machine add --ssh".',
    );
  return 0;
}

function isNear(address: string): boolean {
  const where = parseAddress(address);
  return isSocket(where) || isLoopback(where.host);
}
