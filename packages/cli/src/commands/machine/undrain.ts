import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<machine>', 'name of the machine, now or earlier, or its identity')
    .action((machine: string) => act((context) => undrainMachine(context, machine)));
}

/** Has a machine take tasks again. */
export async function undrainMachine(context: CommandContext, machineId: string): Promise<ExitStatus> {
  await (await context.broker()).undrainMachine({ machineId });
  printResult(context.output, {
    json: () => ({ machine_id: machineId }),
    table: () => [`${machineId} takes tasks again.`],
    quiet: () => [machineId],
  });
  return 0;
}
