import type { Duration } from '@mutirao/core/shared';
import { quoteWord } from '@mutirao/runtime/processes';
import type { AllocationOrder } from '../resource-manager.ts';
import { renderBeginning } from '../script-beginning.ts';

const minute: Duration = 60_000;

/** Where agents of an allocation are started: one on each of its nodes, or one for each of its processors or slots. */
export type AgentPlaces = 'node' | 'processor';

/**
 * The walltime that is asked of Slurm: whole minutes, rounded up, or down inside a reservation, beyond whose end
 * nothing can be had.
 */
export function findMinutes({ walltime, reservation }: Pick<AllocationOrder, 'walltime' | 'reservation'>): number {
  return Math.max(1, reservation === undefined ? Math.ceil(walltime / minute) : Math.floor(walltime / minute));
}

/**
 * Renders the script of a request's job: the command on each of its nodes, or for each of its processors or slots. When
 * nothing is said, slots share the agent of their node, and single processors have an agent each: what a request is
 * worth is judged by the machines that are busy.
 */
export function renderBatchScript(
  order: AllocationOrder,
  agents: AgentPlaces = order.slot === undefined ? 'processor' : 'node',
): string {
  return [
    ...renderBeginning(order, findMinutes(order) * minute),
    ...(agents === 'node' ? perNode : perSlot(order)),
    `  /bin/sh -c ${quoteWord('export MUTIRAO_PROCESS_INDEX="$SLURM_PROCID"; exec "$@"')} mutirao ` +
      `${order.command.map(quoteWord).join(' ')}`,
    '',
  ].join('\n');
}

// Whatever the environment of the job was made of: the agents need what stands above.
const always = '--export=ALL --mpi=none --kill-on-bad-exit=0 --input=none';

/** The job's own variables would make srun start as many tasks, as narrow, as the job was asked for with. */
const ofJob = [
  'SLURM_NTASKS',
  'SLURM_NPROCS',
  'SLURM_NTASKS_PER_NODE',
  'SLURM_CPUS_PER_TASK',
  'SRUN_CPUS_PER_TASK',
  'SLURM_GPUS_PER_TASK',
  'SLURM_TRES_PER_TASK',
  'SLURM_DISTRIBUTION',
];

const perNode = [
  'export MUTIRAO_MACHINE_PROCESSORS=granted',
  `unset MUTIRAO_MACHINE_MEMORY_BYTES MUTIRAO_MACHINE_GPUS ${ofJob.join(' ')}`,
  `exec srun ${always} --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --cpu-bind=none \\`,
];

function perSlot({ slot }: AllocationOrder): string[] {
  const processors = slot?.processors ?? 1;
  if (processors === 1) return [`exec srun ${always} \\`];
  return [`exec srun ${always} --cpus-per-task=${processors} \\`];
}
