import type { Command } from 'commander';

import type { Act } from '../../context.ts';
import { reportExplanation } from './report-explanation.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<machine>', 'name of the machine, as "mutirao machine list" prints it: lab/m1')
    .action((machineId: string) =>
      act((context) => reportExplanation(context, { $case: 'machineId', value: machineId })),
    );
}
