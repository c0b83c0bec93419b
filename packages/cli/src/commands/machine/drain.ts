import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<machine>', 'name of the machine, now or earlier, or its identity')
    .option('--reason <text>', 'the reason, which is kept with the machine', '')
    .action((machine: string, options: { reason: string }) =>
      act((context) => drainMachine(context, machine, options.reason)),
    );
}

/**
 * Drains a machine until it is undrained: it gets nothing new, under whatever name it comes back, and what runs there
 * ends by itself.
 */
export async function drainMachine(context: CommandContext, machineId: string, reason: string): Promise<ExitStatus> {
  await (await context.broker()).drainMachine({ machineId, reason });
  printResult(context.output, {
    json: () => ({ machine_id: machineId }),
    table: () => [
      `${machineId} is draining: it gets no new tasks, and what runs there ends by itself. "mutirao machine ` +
        `undrain ${machineId}" makes it take tasks again.`,
    ],
    quiet: () => [machineId],
  });
  return 0;
}
