import type { Command } from 'commander';

import { plural } from '@mutirao/core/shared';
import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveJobId, resolveTaskIndexes } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<job>', 'a job number, or "last"')
    .argument('[tasks]', 'which tasks: 3,5-9 or 0-10:2 (default: all)', 'all')
    .action((job: string, tasks: string) => act((context) => releaseTasks(context, job, tasks)));
}

/** Lets held tasks be started. */
async function releaseTasks(context: CommandContext, job: string, tasks: string): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, job);
  const taskIndexes = tasks === 'all' ? [] : await resolveTaskIndexes(broker, jobId, tasks, 'listed');
  const { releasedCount } = await broker.releaseTasks({ jobId, taskIndexes });
  printResult(context.output, {
    json: (): JsonOf<typeof shapes.released_tasks> => ({ job_id: jobId, released_count: releasedCount }),
    table: () => [
      releasedCount === 0
        ? `Nothing changed: none of these tasks of job ${jobId} was held.`
        : `${plural(releasedCount, 'task')} of job ${jobId} may start.`,
    ],
    quiet: () => [jobId],
  });
  return 0;
}
