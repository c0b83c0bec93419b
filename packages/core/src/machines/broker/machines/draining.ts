import { ownInstant } from '../../../shared/index.ts';
import type { InputOf } from '../inputs.ts';
import { isFollower } from '../gangs/gang.ts';
import { endUntold } from '../results/endings.ts';
import type { BrokerMachine } from '../state.ts';
import { drained } from './takes-work.ts';
import { cancelReplica, type Turn, withdrawReplica } from '../turn.ts';

/** Notes whether a provider drains. */
export function hearDraining({ state }: Turn, { providerId, draining }: InputOf<'DrainingTold'>): void {
  const provider = state.providers.get(providerId);
  if (provider === undefined || !provider.isConnected) return;
  provider.draining = draining === undefined ? undefined : { ...draining, since: ownInstant(draining.since, provider.clockOffset) };
}

/**
 * Asks back what waits at the machines of draining providers, so that it runs elsewhere; where a provider gives everything back, ends what runs there as well. None of it
 * counts against a task. In every step, since machines may present themselves again. Cost: O(providers + replicas at those that drain).
 */
export function returnFromDraining(turn: Turn): void {
  for (const provider of turn.state.providers.values()) {
    if (provider.draining === undefined) continue;
    for (const machine of provider.machines.values()) {
      if (!machine.isTold) continue;
      if (provider.draining.isAtOnce === true) endAll(turn, machine);
      else withdrawAll(turn, machine);
    }
  }
}

/** Members of gangs are given back with their gang. */
function withdrawAll(turn: Turn, { replicas }: BrokerMachine): void {
  for (const replica of replicas.values()) {
    if (replica.status === 'placed' && !replica.isWithdrawing && replica.member === undefined) withdrawReplica(turn, replica);
  }
}

/** The other members of a gang end after its leader. */
function endAll(turn: Turn, { replicas }: BrokerMachine): void {
  for (const replica of [...replicas.values()]) {
    if (replica.status === 'aborting' || isFollower(replica)) continue;
    cancelReplica(turn, replica);
    endUntold(turn, replica, { fate: 'withdrawn', reason: drained, detail: 'its provider gives everything back' });
  }
}
