import type { ReplicaId } from '../../shared/index.ts';
import { isLeased } from './spooled-lease.ts';
import { isStandby } from './leases.ts';
import type { BrokerId, ProvidedMachine, ProviderState } from './state.ts';
import { commit, type Turn } from './turn.ts';

/**
 * Puts leased replicas that a lost machine had started and not ended back into the lease, so that another may run them.
 */
export function returnLeased(turn: Turn, machine: ProvidedMachine): void {
  const broker = turn.state.brokers.get(machine.brokerId);
  if (broker?.lease === undefined || !isStandby(broker)) return;
  const { started } = broker.lease;
  // Of this broker alone: replica ids are each broker's own.
  const kept = [...turn.state.kept.values()].filter(({ brokerId }) => brokerId === broker.brokerId);
  const ended = new Set(kept.flatMap(({ reports }) => reports.flatMap(({ endedReplicaIds }) => endedReplicaIds)));
  const replicaIds: ReplicaId[] = [];
  for (const [replicaId, machineId] of started)
    if (machineId === machine.facts.machineId && !ended.has(replicaId)) replicaIds.push(replicaId);
  if (replicaIds.length > 0) commit(turn, { kind: 'LeaseReturned', brokerId: broker.brokerId, replicaIds });
}

/**
 * Notes as started the leased replicas that an agent holds but that are not known to run: they were put back when their
 * machine was given up, or the host fell before the note was on disk.
 */
export function noteHeld(turn: Turn, machine: ProvidedMachine): void {
  const broker = turn.state.brokers.get(machine.brokerId);
  if (machine.isForeign || broker?.lease === undefined || !isStandby(broker)) return;
  const { lease, brokerId } = broker;
  const replicaIds = [...machine.held].filter(
    (replicaId) => isLeased(lease, replicaId) && !lease.started.has(replicaId),
  );
  if (replicaIds.length > 0)
    commit(turn, { kind: 'LeaseStarted', brokerId, machineId: machine.facts.machineId, replicaIds });
}

/** Whether reports of a machine, of whatever run of its agent, are kept for the broker that it belongs to. */
export function hasKept({ kept }: ProviderState, { facts, brokerId }: ProvidedMachine): boolean {
  for (const one of kept.values())
    if (one.facts.machineId === facts.machineId && one.brokerId === brokerId) return true;
  return false;
}

/**
 * Whether a machine has to wait until a former run of its agent has delivered all its reports to that broker:
 * acknowledgements name only the machine, which is the same for both.
 */
export function mustWait({ kept }: ProviderState, { facts }: ProvidedMachine, brokerId: BrokerId): boolean {
  for (const one of kept.values()) {
    if (
      one.facts.machineId === facts.machineId &&
      one.brokerId === brokerId &&
      one.facts.incarnation !== facts.incarnation
    )
      return true;
  }
  return false;
}
