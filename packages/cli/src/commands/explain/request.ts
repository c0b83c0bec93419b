import type { Command } from 'commander';

import type { Act } from '../../context.ts';
import { reportExplanation } from './report-explanation.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<request>', 'provider and number, as "mutirao request list" prints them: alpha/3')
    .action((request: string) => act((context) => reportExplanation(context, { $case: 'request', value: request })));
}
