import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveJobId, resolveTaskIndexes } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<job>', 'a job number, or "last"')
    .argument('[tasks]', 'which tasks: 5, 0-10:2, last or all (default: all that failed or were cancelled)', 'all')
    .option('--current-inputs', 'use the input files as they are now; finished tasks keep their results')
    .option('--shared-places', 'allow output files that another running job also writes')
    .action(
      (job: string, tasks: string, { currentInputs, sharedPlaces }: { currentInputs?: true; sharedPlaces?: true }) =>
        act((context) =>
          retryTasks(context, job, {
            tasks,
            currentInputs: currentInputs === true,
            sharedPlaces: sharedPlaces === true,
          }),
        ),
    );
}

/** Which tasks run again, and with what. */
interface Retry {
  readonly tasks: string;
  readonly currentInputs: boolean;
  readonly sharedPlaces: boolean;
}

/** Runs failed or cancelled tasks again. */
export async function retryTasks(
  context: CommandContext,
  job: string,
  { tasks, currentInputs, sharedPlaces }: Retry,
): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, job);
  const { retriedCount } = await broker.retryTasks({
    jobId,
    taskIndexes: await resolveTaskIndexes(broker, jobId, tasks),
    currentInputs,
    ...(sharedPlaces ? { sharedPlaces } : {}),
  });
  printResult(context.output, {
    json: () => ({ job_id: jobId, retried_count: retriedCount }),
    table: () => [`${retriedCount} ${retriedCount === 1 ? 'task' : 'tasks'} of job ${jobId} will run again.`],
    quiet: () => [jobId],
  });
  return 0;
}
