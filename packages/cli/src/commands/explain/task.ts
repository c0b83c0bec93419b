import type { Command } from 'commander';

import type { Act } from '../../context.ts';
import { resolveJobId, resolveTaskIndex } from '../../selectors.ts';
import { reportExplanation } from './report-explanation.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<job>', 'a job number, or "last"')
    .argument('<task>', 'index of the task, from 0')
    .action((job: string, task: string) =>
      act(async (context) => {
        const taskIndex = resolveTaskIndex(task);
        const jobId = await resolveJobId(await context.broker(), job);
        return reportExplanation(context, { $case: 'task', value: { jobId, taskIndex } });
      }),
    );
}
