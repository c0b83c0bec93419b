import type { TaskIndex } from '../../shared/index.ts';
import { trimLeases } from './grant-leases.ts';
import type { BrokerJob, BrokerMachine, GroupSpan } from './state.ts';
import { commit, type Turn } from './turn.ts';

/** Replicas of one group for one machine. */
export interface Batch {
  readonly job: BrokerJob;
  readonly group: GroupSpan;
  readonly taskIndexes: readonly TaskIndex[];
}

/** Places a batch and has it started. */
export function placeBatch(turn: Turn, machine: BrokerMachine, { job, group, taskIndexes }: Batch): void {
  const firstReplicaId = turn.state.nextReplicaId;
  const { jobId } = job;
  const { provider: { providerId }, facts: { machineId } } = machine;
  commit(turn, { kind: 'ReplicasPlaced', machineId, jobId, firstReplicaId, taskIndexes, at: turn.now });
  const starts = taskIndexes.map((taskIndex, offset) => ({ replicaId: firstReplicaId + offset, taskIndex }));
  trimLeases(turn, job, taskIndexes);
  machine.provider.owesTurn = false;
  turn.commands.push({ kind: 'StartReplicas', providerId, machineId, jobId, groupIndex: group.groupIndex, starts });
}
