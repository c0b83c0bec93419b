import type { JobId, ReplicaId, TaskIndex } from '../../../shared/index.ts';
import { isBeingCancelled } from '../apply/apply-job.ts';
import { revokeLeases } from './grant-leases.ts';
import type { GetInput } from '../inputs.ts';
import { findLeasedTask } from './leases.ts';
import type { BrokerJob, BrokerMachine } from '../state.ts';
import { isReadyOrParked } from '../jobs/ready-tasks.ts';
import { isQuarantined } from '../trust/trust-records.ts';
import { commit, type Turn } from '../turn.ts';

/**
 * Adopts replicas of its provider's lease that a machine holds, if the task is still open: they were started while this
 * broker was away.
 *
 * An id comes back once. More replicas of a task than its job allows may run then: a replica that has run for an hour
 * is not given up for one that was placed a moment ago.
 */
export function adoptLeased(turn: Turn, machine: BrokerMachine, heldReplicaIds: readonly ReplicaId[]): void {
  if (isQuarantined(turn.state, machine)) return;
  for (const replicaId of heldReplicaIds) {
    if (turn.state.replicas.has(replicaId) || turn.state.successes.has(replicaId)) continue;
    const leased = findLeased(machine, replicaId);
    const job = leased === undefined ? undefined : turn.state.jobs.get(leased.jobId);
    if (leased === undefined || job === undefined || !isWanted(job, leased.taskIndex, machine)) continue;
    const {
      facts: { machineId },
    } = machine;
    commit(turn, {
      kind: 'ReplicasDispatched',
      machineId,
      jobId: leased.jobId,
      firstReplicaId: replicaId,
      taskIndexes: [leased.taskIndex],
      at: turn.now,
      isAdopted: true,
    });
    revokeLeases(turn, job, [leased.taskIndex]);
  }
}

function findLeased(
  { provider }: BrokerMachine,
  replicaId: ReplicaId,
): { readonly jobId: JobId; readonly taskIndex: TaskIndex } | undefined {
  for (const lease of provider.leases) {
    const found = lease.adopted.has(replicaId) ? undefined : findLeasedTask(lease, replicaId);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isWanted(job: BrokerJob, index: TaskIndex, machine: BrokerMachine): boolean {
  if (job.status !== 'running' || job.spec === undefined) return false;
  const task = job.tasks.get(index);
  // A task that was held meanwhile runs nevertheless.
  if (task === undefined) return isReadyOrParked(job, index);
  if (isBeingCancelled(task)) return false;
  return (
    !task.replicas.some((replica) => replica.machine === machine) &&
    !(task.successes ?? []).some(({ machineId }) => machineId === machine.facts.machineId)
  );
}

/** A provider has stored a lease, and replicas of earlier ones cannot come back. */
export function onLeaseConfirmed(turn: Turn, { providerId, sequence }: GetInput<'LeaseConfirmed'>): void {
  const provider = turn.state.providers.get(providerId);
  // Of another broker of that name, say: what was never granted cannot be confirmed.
  if (
    provider === undefined ||
    !provider.leases.some((lease) => lease.sequence === sequence) ||
    provider.confirmedLease >= sequence
  )
    return;
  commit(turn, { kind: 'LeaseConfirmed', providerId, sequence });
}
