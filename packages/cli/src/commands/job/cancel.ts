import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { tell } from '../../output/tell.ts';
import { resolveJobIds } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<jobs>', 'selector: 5, 1-10:2, last, all (all that run)')
    .option('--reason <text>', 'why, for the records', '')
    .action((jobs: string, options: { reason: string }) => act((context) => cancelJobs(context, jobs, options.reason)));
}

/** Cancels jobs; repeating it is harmless. */
export async function cancelJobs(context: CommandContext, selector: string, reason: string): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobIds = await resolveJobIds(broker, selector, 'running');
  for (const jobId of jobIds) await broker.cancelJob({ jobId, reason });
  tell(context.output, {
    json: () => jobIds.map((jobId) => ({ job_id: jobId })),
    table: () => (jobIds.length === 0 ? ['Nothing to cancel.'] : jobIds.map((jobId) => `Job ${jobId} is cancelled.`)),
    quiet: () => jobIds,
  });
  return 0;
}
