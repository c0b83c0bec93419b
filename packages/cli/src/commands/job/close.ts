import type { Command } from 'commander';

import { plural } from '@mutirao/core/shared';
import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveJobs } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<jobs>', 'which jobs: 5, 1-10:2, last, or all (every running job)')
    .action((jobs: string) => act((context) => closeJobs(context, jobs)));
}

/** Lets jobs end with the tasks that they have. Repeating it is harmless. */
export async function closeJobs(context: CommandContext, selector: string): Promise<ExitStatus> {
  const broker = await context.broker();
  const closed: ClosedJob[] = [];
  for (const { jobId, open } of await resolveJobs(broker, selector, 'running')) {
    const { taskCount } = await broker.closeJob({ jobId });
    closed.push({ jobId, taskCount, wasOpen: open === true });
  }
  printResult(context.output, {
    json: () =>
      closed.map(
        ({ jobId, taskCount, wasOpen }): JsonOf<typeof shapes.closed_job> => ({
          job_id: jobId,
          task_count: taskCount,
          was_open: wasOpen,
        }),
      ),
    table: () => (closed.length === 0 ? ['Nothing to close: none of your jobs is running.'] : closed.map(describe)),
    quiet: () => closed.map(({ jobId }) => jobId),
  });
  return 0;
}

interface ClosedJob {
  readonly jobId: number;
  readonly taskCount: number;
  readonly wasOpen: boolean;
}

function describe({ jobId, taskCount, wasOpen }: ClosedJob): string {
  const tasks = plural(taskCount, 'task');
  return wasOpen ? `Job ${jobId} is closed with ${tasks}.` : `Job ${jobId} was not open; it has ${tasks}.`;
}
