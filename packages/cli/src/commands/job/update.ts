import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { plural } from '@mutirao/core/shared';
import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveJobId } from '../../selectors.ts';
import { readPriority, readRunningMax } from './service-options.ts';

/** What a job has from now on. */
interface UpdateOptions {
  readonly priority?: string;
  readonly runningMax?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<job>', 'a job number, or "last"')
    .option('--priority <number>', 'serve it before jobs of a lower priority: -1000 to 1000')
    .option('--running-max <count>', 'run at most this many of its tasks at once, or "none" for no limit')
    .action((job: string, options: UpdateOptions) => act((context) => updateJob(context, job, options)));
}

/** Changes how a running job is served. */
async function updateJob(context: CommandContext, job: string, options: UpdateOptions): Promise<ExitStatus> {
  if (options.priority === undefined && options.runningMax === undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', 'there is nothing to change; expected --priority or --running-max');
  const priority = readPriority(options.priority);
  const runningMax = options.runningMax === 'none' ? 0 : readRunningMax(options.runningMax);
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, job);
  await broker.updateJob({ jobId, priority, runningMax });
  printResult(context.output, {
    json: (): JsonOf<typeof shapes.updated_job> => ({
      job_id: jobId,
      priority: priority ?? null,
      running_max: runningMax ?? null,
    }),
    table: () => [describeUpdate(jobId, priority, runningMax)],
    quiet: () => [jobId],
  });
  return 0;
}

function describeUpdate(jobId: number, priority: number | undefined, runningMax: number | undefined): string {
  const changed = [
    ...(priority === undefined ? [] : [`has priority ${priority}`]),
    ...(runningMax === undefined
      ? []
      : [runningMax === 0 ? 'may run any number of tasks at once' : `may run ${plural(runningMax, 'task')} at once`]),
  ];
  return `Job ${jobId} ${changed.join(' and ')} from now on.`;
}
