import type { MachineFacts } from '../../messages/index.ts';
import type { ReplicaId } from '../../shared/index.ts';
import type { InputOf } from './inputs.ts';
import { loseMachine, loseReplicas } from './lose-machine.ts';
import type { BrokerMachine } from './state.ts';
import { addCancel, commit, type Turn } from './turn.ts';

/**
 * Takes a machine in, or what it says of itself after a connection was lost.
 *
 * A restarted agent holds nothing of its former incarnation. Of one that is the same, what it does not hold is lost, and told
 * to be dropped should it still be on its way; what it holds and nobody wants is cancelled.
 */
export function joinMachine(turn: Turn, input: InputOf<'MachineJoined'>): void {
  const { state } = turn;
  const { facts, providerId } = input;
  if (!state.providers.has(providerId)) return;
  let known = state.machines.get(facts.machineId);
  if (known !== undefined && known.provider.providerId !== providerId) return;
  if (known !== undefined && known.facts.incarnation !== facts.incarnation) {
    loseMachine(turn, known, 'MUT_MACHINE_LOST');
    known = undefined;
  }
  if (known === undefined || !isSameFacts(known.facts, facts)) {
    commit(turn, { kind: 'MachineJoined', providerId, facts, at: turn.now });
  }
  const machine = known ?? state.machines.get(facts.machineId);
  if (machine === undefined) return;
  machine.isTold = machine.provider.isConnected;
  compareHeld(turn, machine, input.heldReplicaIds);
}

function compareHeld(turn: Turn, machine: BrokerMachine, heldReplicaIds: readonly ReplicaId[]): void {
  const held = new Set(heldReplicaIds);
  const missing = [...machine.replicas.values()].filter((replica) => !held.has(replica.replicaId));
  for (const replica of missing) addCancel(turn, machine, replica.replicaId);
  loseReplicas(turn, machine, { replicas: missing, reason: 'MUT_MACHINE_LOST' });
  for (const replicaId of held) {
    const replica = machine.replicas.get(replicaId);
    if (replica === undefined || replica.status === 'aborting') addCancel(turn, machine, replicaId);
    else replica.isWithdrawing = false;
  }
}

function isSameFacts(one: MachineFacts, other: MachineFacts): boolean {
  return one.processors === other.processors && one.until === other.until && one.requestId === other.requestId
    && isSameRecord(one.attributes, other.attributes);
}

function isSameRecord(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
