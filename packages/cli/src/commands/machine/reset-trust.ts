import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<machine>', 'name of the machine, now or earlier, or its identity')
    .action((machine: string) => act((context) => resetMachineTrust(context, machine)));
}

/** Lets a machine that was caught begin again. */
export async function resetMachineTrust(context: CommandContext, machineId: string): Promise<ExitStatus> {
  await (await context.broker()).resetMachineTrust({ machineId });
  printResult(context.output, {
    json: () => ({ machine_id: machineId }),
    table: () => [`${machineId} is no longer quarantined, and its trust record is reset.`],
    quiet: () => [machineId],
  });
  return 0;
}
