import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { tell } from '../../output/tell.ts';
import { resolveJobId, resolveTaskIndexes } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<job>', 'a job number, or last')
    .argument('[tasks]', 'selector of tasks: 5, 0-10:2, last, all', 'all')
    .option('--current-inputs', 'give them the input files as they are now; what has finished stays as it is')
    .action((job: string, tasks: string, { currentInputs }: { currentInputs?: true }) => act((context) => retryTasks(context, job, { tasks, currentInputs: currentInputs === true })));
}

/** Which tasks run again, and with what. */
interface Retry {
  readonly tasks: string;
  readonly currentInputs: boolean;
}

/** Runs failed or cancelled tasks again. */
export async function retryTasks(context: CommandContext, job: string, { tasks, currentInputs }: Retry): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, job);
  const { retriedCount } = await broker.retryTasks({ jobId, taskIndexes: await resolveTaskIndexes(broker, jobId, tasks), currentInputs });
  tell(context.output, {
    json: () => ({ job_id: jobId, retried_count: retriedCount }),
    table: () => [`${retriedCount} ${retriedCount === 1 ? 'task' : 'tasks'} of job ${jobId} will run again.`],
    quiet: () => [jobId],
  });
  return 0;
}
