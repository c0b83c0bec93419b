import type { Command } from 'commander';

import { EnrolledMachineStatus, type EnrolledMachineState } from '@mutirao/api/provider';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { enrolledMachineJson, describeReach } from '../../json/enrolled-machine.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration } from '../../output/units.ts';
import { resolveProviderAddress } from '../../selectors.ts';
import { getEnumName } from '../../wire/names.ts';

export function define(command: Command, act: Act): void {
  command
    .option('--provider <name>', 'the provider of the machines', 'lab')
    .action((options: { readonly provider: string }) => act((context) => listKept(context, options.provider)));
}

/** Lists the machines that a provider keeps, those too that are not there now, with the reason. */
export async function listKept(context: CommandContext, providerName: string): Promise<ExitStatus> {
  const { providerId, address } = await resolveProviderAddress(context, providerName);
  const { machines } = await (await context.provider(address)).listEnrolledMachines();
  reportKept(context, providerId, machines);
  return 0;
}

/** Lists enrolled machines with their states. */
export function reportKept(
  { output, clock }: CommandContext,
  providerId: string,
  machines: readonly EnrolledMachineState[],
): void {
  printResult(output, {
    json: () => machines.map((state) => enrolledMachineJson(providerId, state)),
    table: () =>
      machines.length === 0
        ? [`Provider ${providerId} has no enrolled machines; add some with "mutirao machine add".`]
        : keptTable(providerId, machines, clock.now()),
    quiet: () => machines.map(({ machine }) => `${providerId}/${machine?.name ?? ''}`),
  });
}

function keptTable(providerId: string, machines: readonly EnrolledMachineState[], now: number): string[] {
  return renderTable(
    [
      { title: 'MACHINE' },
      { title: 'STATUS' },
      { title: 'DURATION', right: true },
      { title: 'VIA' },
      { title: 'ADDRESS' },
      { title: 'REASON' },
    ],
    machines.map((state) => {
      const { name = '', reach } = state.machine ?? {};
      const [by, at] = [reach?.$case ?? '', describeReach(reach)];
      return [
        `${providerId}/${name}`,
        getEnumName(EnrolledMachineStatus, state.status),
        showDuration(Math.max(0, now - state.sinceUnixMs)),
        by,
        at,
        state.status === EnrolledMachineStatus.RUNNING ? '' : state.reason,
      ];
    }),
  );
}
