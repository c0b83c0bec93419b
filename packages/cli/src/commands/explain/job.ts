import type { Command } from 'commander';

import type { Act } from '../../context.ts';
import { resolveJobId } from '../../selectors.ts';
import { reportExplanation } from './report-explanation.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('[job]', 'a job number, or "last" (default: last)', 'last')
    .action((job: string) =>
      act(async (context) =>
        reportExplanation(context, { $case: 'jobId', value: await resolveJobId(await context.broker(), job) }),
      ),
    );
}
