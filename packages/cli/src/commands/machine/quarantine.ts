import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<machine>', 'name of the machine, now or earlier, or its identity')
    .option('--reason <text>', 'the reason, which "mutirao machine trust" prints', '')
    .action((machine: string, options: { reason: string }) =>
      act((context) => quarantineMachine(context, machine, options.reason)),
    );
}

/** Has a machine get nothing more, under whatever name. */
export async function quarantineMachine(
  context: CommandContext,
  machineId: string,
  reason: string,
): Promise<ExitStatus> {
  await (await context.broker()).quarantineMachine({ machineId, reason });
  printResult(context.output, {
    json: () => ({ machine_id: machineId }),
    table: () => [
      `${machineId} is quarantined: it gets no more tasks, and tasks of open jobs whose results rest on its votes run again.`,
    ],
    quiet: () => [machineId],
  });
  return 0;
}
