import type { Duration } from '@mutirao/core/shared';
import { quoteWord } from '@mutirao/runtime/processes';
import type { AllocationOrder } from '../resource-manager.ts';
import { renderBeginning } from '../script-beginning.ts';

const minute: Duration = 60_000;

/**
 * The walltime that is asked of Slurm: whole minutes, rounded up, or down inside a reservation, beyond whose end
 * nothing can be had.
 */
export function findMinutes({ walltime, reservation }: Pick<AllocationOrder, 'walltime' | 'reservation'>): number {
  return Math.max(1, reservation === undefined ? Math.ceil(walltime / minute) : Math.floor(walltime / minute));
}

/** Renders the script of a request's job: the command once for each processor, on the job's nodes. */
export function renderBatchScript(order: AllocationOrder): string {
  return [
    ...renderBeginning(order, findMinutes(order) * minute),
    // Whatever the environment of the job was made of: the agents need what stands above.
    'exec srun --export=ALL --mpi=none --kill-on-bad-exit=0 --input=none \\',
    `  /bin/sh -c ${quoteWord('export MUTIRAO_PROCESS_INDEX="$SLURM_PROCID"; exec "$@"')} mutirao ` +
      `${order.command.map(quoteWord).join(' ')}`,
    '',
  ].join('\n');
}
