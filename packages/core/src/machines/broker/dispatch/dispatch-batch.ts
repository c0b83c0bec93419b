import type { Bytes, ProcessorCount, TaskIndex } from '../../../shared/index.ts';
import { findOwnMemory, findResources } from '../jobs/task-groups.ts';
import { revokeLeases } from '../leases/grant-leases.ts';
import type { BrokerJob, BrokerMachine, GroupSpan } from '../state.ts';
import { buildStart } from './start-of.ts';
import { commit, type Turn } from '../turn.ts';

/** Replicas of one group for one machine, of tasks that ask for the same. */
export interface Batch {
  readonly job: BrokerJob;
  readonly group: GroupSpan;
  readonly taskIndexes: readonly TaskIndex[];
  /** The processors of each; left out, the fewest that its task takes. */
  readonly processors?: ProcessorCount | undefined;
  /** By which alternative of the group; left out for its first request. */
  readonly alternative?: number;
}

/** Dispatches a batch and has it started. */
export function dispatchBatch(
  turn: Turn,
  machine: BrokerMachine,
  { job, group, taskIndexes, processors, alternative = 0 }: Batch,
): void {
  const firstReplicaId = turn.state.nextReplicaId;
  const { jobId } = job;
  const chosen = {
    ...(processors === undefined ? {} : { processors }),
    ...(alternative === 0 ? {} : { alternative }),
  };
  const {
    provider: { providerId },
    facts: { machineId },
  } = machine;
  commit(turn, { kind: 'ReplicasDispatched', machineId, jobId, firstReplicaId, taskIndexes, at: turn.now, ...chosen });
  const memory = findMemory(job, taskIndexes[0] as TaskIndex, alternative);
  const starts = taskIndexes.map((taskIndex, offset) =>
    buildStart(turn.state, job, { replicaId: firstReplicaId + offset, taskIndex }),
  );
  revokeLeases(turn, job, taskIndexes);
  machine.provider.owesTurn = false;
  turn.commands.push({
    kind: 'StartReplicas',
    providerId,
    machineId,
    jobId,
    groupIndex: group.groupIndex,
    starts,
    ...chosen,
    ...(memory === undefined ? {} : { memory }),
  });
}

/** What a task holds where that is not what its group says. */
function findMemory(job: BrokerJob, index: TaskIndex, alternative: number): Bytes | undefined {
  if (alternative === 0) return findOwnMemory(job, index);
  const grown = job.tasks.get(index)?.grown;
  return grown === undefined ? undefined : findResources(job, index, alternative)?.memory;
}
