import { ownInstant } from '../../../shared/index.ts';
import type { GetInput } from '../inputs.ts';
import { isFollower } from '../gangs/gang.ts';
import { endUnreported } from '../results/endings.ts';
import type { BrokerMachine } from '../state.ts';
import { drained, findDrain } from './takes-work.ts';
import { findIdentity } from '../trust/trust-records.ts';
import { cancelReplica, commit, reply, replyNotFound, type Turn, withdrawReplica } from '../turn.ts';

/** Notes whether a provider drains. */
export function onDraining({ state }: Turn, { providerId, draining }: GetInput<'DrainingReported'>): void {
  const provider = state.providers.get(providerId);
  if (provider === undefined || !provider.isConnected) return;
  provider.draining =
    draining === undefined ? undefined : { ...draining, since: ownInstant(draining.since, provider.clockOffset) };
}

/** Has a machine get nothing new until it is undrained, under whatever name it comes back. */
export function drainMachine(turn: Turn, { replyTo, machineId, reason }: GetInput<'MachineDrained'>): void {
  const found = findIdentity(turn.state, machineId);
  if (found === undefined) return replyNotFound(turn, replyTo, { code: 'machine-not-found', machineId });
  commit(turn, { kind: 'MachineDrained', ...found, reason, at: turn.now });
  reply(turn, replyTo, { ok: true, value: {} });
}

/** A machine takes work again. One that is not drained stays as it is. */
export function undrainMachine(turn: Turn, { replyTo, machineId }: GetInput<'MachineUndrained'>): void {
  const { state } = turn;
  const known =
    state.drainedMachines.get(machineId) ??
    [...state.drainedMachines.values()].find((one) => one.machineId === machineId);
  const identity = known?.identity ?? findIdentity(state, machineId)?.identity;
  if (identity === undefined) return replyNotFound(turn, replyTo, { code: 'machine-not-found', machineId });
  if (state.drainedMachines.has(identity)) commit(turn, { kind: 'MachineUndrained', identity });
  reply(turn, replyTo, { ok: true, value: {} });
}

/**
 * Asks back replicas that wait at the machines of draining providers and at draining machines, so that they run
 * elsewhere; for a provider that gives everything back, ends the running ones as well. None of it counts against a
 * task. In every step, since machines may join again. Cost: O(providers + replicas at those that drain), and
 * O(machines) while any is drained.
 */
export function returnFromDraining(turn: Turn): void {
  for (const provider of turn.state.providers.values()) {
    if (provider.draining === undefined) continue;
    for (const machine of provider.machines.values()) {
      if (!machine.isAnnounced) continue;
      if (provider.draining.isAtOnce === true) endAll(turn, machine);
      else withdrawAll(turn, machine);
    }
  }
  if (turn.state.drainedMachines.size === 0) return;
  for (const machine of turn.state.machines.values())
    if (machine.isAnnounced && findDrain(turn.state, machine) !== undefined) withdrawAll(turn, machine);
}

/** Members of gangs are given back with their gang. */
function withdrawAll(turn: Turn, { replicas }: BrokerMachine): void {
  for (const replica of replicas.values()) {
    if (replica.status === 'dispatched' && !replica.isWithdrawing && replica.member === undefined)
      withdrawReplica(turn, replica);
  }
}

/** The other members of a gang end after its leader. */
function endAll(turn: Turn, { replicas }: BrokerMachine): void {
  for (const replica of [...replicas.values()]) {
    if (replica.status === 'aborting' || isFollower(replica)) continue;
    cancelReplica(turn, replica);
    endUnreported(turn, replica, {
      disposition: 'withdrawn',
      reason: drained,
      detail: { code: 'provider-releases-all' },
    });
  }
}
