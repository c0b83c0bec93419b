import { silentLoss } from '../../../bag/index.ts';
import { reservationKey, type MachineFacts } from '../../../messages/index.ts';
import { isSameCapacity } from '../../../resources/index.ts';
import { ownInstant, type ReplicaId } from '../../../shared/index.ts';
import { adoptLeased } from '../leases/adopt-leased.ts';
import type { GetInput } from '../inputs.ts';
import { reasonOfSilence } from '../results/judge-losses.ts';
import { loseMachine, loseReplicas } from './lose-machine.ts';
import type { BrokerMachine, BrokerProvider } from '../state.ts';
import { repeatStarts } from '../gangs/reconcile-gangs.ts';
import { getIdentity } from '../trust/trust-records.ts';
import { addCancel, commit, type Turn } from '../turn.ts';

/**
 * Adds a machine, or updates it after a lost connection.
 *
 * A restarted agent holds nothing of its former incarnation. If the incarnation is the same, a replica that it does not
 * hold is lost, and is cancelled in case it is still on its way; an unwanted replica that it holds is cancelled.
 */
export function joinMachine(turn: Turn, input: GetInput<'MachineJoined'>): void {
  const { state } = turn;
  const { providerId } = input;
  const provider = state.providers.get(providerId);
  if (provider === undefined) return;
  let known = state.machines.get(input.facts.machineId);
  const facts = factsInOwnClock(input.facts, provider, known);
  if (known !== undefined && known.provider.providerId !== providerId) return;
  if (known !== undefined && isOther(known, facts)) {
    loseMachine(turn, known, reasonOfSilence(state, known, turn.now), 0);
    known = undefined;
  }
  if (known === undefined || !isSameFacts(known.facts, facts)) {
    commit(turn, { kind: 'MachineJoined', providerId, facts, at: turn.now });
  }
  const machine = known ?? state.machines.get(facts.machineId);
  if (machine === undefined) return;
  machine.isAnnounced = machine.provider.isConnected;
  machine.isGone = input.isGone === true;
  loseMissing(turn, machine, input.heldReplicaIds);
  // A task that just lost a replica may run there all the same, as a leased one.
  adoptLeased(turn, machine, input.heldReplicaIds);
  compareHeld(turn, machine, input.heldReplicaIds);
  repeatStarts(turn, machine);
}

/**
 * Whether a machine has changed identity, even with the same name: its earlier replicas can no longer run, or not here.
 */
function isOther({ facts: known }: BrokerMachine, facts: MachineFacts): boolean {
  return (
    known.incarnation !== facts.incarnation ||
    known.processors !== facts.processors ||
    known.requestId !== facts.requestId ||
    getKey(known.reservation) !== getKey(facts.reservation)
  );
}

function getKey(reservation: MachineFacts['reservation']): string {
  return reservation === undefined ? '' : reservationKey(reservation);
}

/**
 * A walltime ends by the clock of its provider, which may be another than ours, and never before what was charged of
 * it.
 */
function factsInOwnClock(
  facts: MachineFacts,
  { clockOffset }: BrokerProvider,
  known: BrokerMachine | undefined,
): MachineFacts {
  if (facts.until === undefined) return facts;
  const least = known === undefined ? 0 : known.joinedAt + Math.ceil(known.charged / known.processors);
  return { ...facts, until: Math.max(least, ownInstant(facts.until, clockOffset)) };
}

function loseMissing(turn: Turn, machine: BrokerMachine, heldReplicaIds: readonly ReplicaId[]): void {
  const held = new Set(heldReplicaIds);
  const missing = [...machine.replicas.values()].filter((replica) => !held.has(replica.replicaId));
  for (const replica of missing) addCancel(turn, machine, replica.replicaId);
  loseReplicas(turn, machine, { replicas: missing, reason: silentLoss, silentSince: 0 });
}

/** A replica that it holds and that is no longer wanted is cancelled. */
function compareHeld(turn: Turn, machine: BrokerMachine, heldReplicaIds: readonly ReplicaId[]): void {
  for (const replicaId of new Set(heldReplicaIds)) {
    const replica = machine.replicas.get(replicaId);
    if (replica === undefined || replica.status === 'aborting') addCancel(turn, machine, replicaId);
    else replica.isWithdrawing = false;
  }
}

function isSameFacts(one: MachineFacts, other: MachineFacts): boolean {
  return (
    one.processors === other.processors &&
    one.until === other.until &&
    one.requestId === other.requestId &&
    getIdentity(one) === getIdentity(other) &&
    isSameRecord(one.attributes, other.attributes) &&
    isSameCapacity(one.capacity, other.capacity)
  );
}

function isSameRecord(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
