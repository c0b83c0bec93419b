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
    .action((job: string, tasks: string) => act((context) => holdTasks(context, job, tasks)));
}

/** Keeps tasks from being started; running ones continue. */
async function holdTasks(context: CommandContext, job: string, tasks: string): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, job);
  const taskIndexes = tasks === 'all' ? [] : await resolveTaskIndexes(broker, jobId, tasks, 'listed');
  const { heldCount } = await broker.holdTasks({ jobId, taskIndexes });
  printResult(context.output, {
    json: (): JsonOf<typeof shapes.held_tasks> => ({ job_id: jobId, held_count: heldCount }),
    table: () => [
      heldCount === 0
        ? `Nothing changed: these tasks of job ${jobId} are held already or have ended.`
        : `${plural(heldCount, 'more task')} of job ${jobId} ${heldCount === 1 ? 'is' : 'are'} held; running tasks ` +
          `continue. "mutirao job release ${jobId}" lets held tasks start.`,
    ],
    quiet: () => [jobId],
  });
  return 0;
}
