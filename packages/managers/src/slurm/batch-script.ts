import type { Duration } from '@mutirao/core/shared';
import { quoteWord, renderAssignments } from '@mutirao/runtime/processes';
import type { AllocationOrder } from '../resource-manager.ts';

const minute: Duration = 60_000;

/** The walltime that is asked of Slurm: whole minutes, rounded up. */
export function minutesOf(walltime: Duration): number {
  return Math.max(1, Math.ceil(walltime / minute));
}

/**
 * Renders the script of a request's job: the command once for each processor, on the job's nodes.
 *
 * The environment is in the script, which only its owner and the manager's operators can read, and not on a command line.
 * The walltime's end is told by the clock of the job's first node.
 */
export function renderBatchScript(order: AllocationOrder): string {
  const environment = { ...order.environment, MUTIRAO_PROCESS_COUNT: String(order.width) };
  return [
    '#!/bin/sh',
    `export ${renderAssignments(environment)}`,
    `export MUTIRAO_WALLTIME_END_UNIX_MS=$((($(date +%s) + ${minutesOf(order.walltime) * 60}) * 1000))`,
    'exec srun --mpi=none --kill-on-bad-exit=0 --input=none \\',
    `  /bin/sh -c ${quoteWord('export MUTIRAO_PROCESS_INDEX="$SLURM_PROCID"; exec "$@"')} mutirao ${order.command.map(quoteWord).join(' ')}`,
    '',
  ].join('\n');
}
