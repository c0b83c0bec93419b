import type { Instant } from '../../shared/index.ts';
import { acceptCommand, digestCommand } from './results/bring-home.ts';
import type { BrokerCommand } from './commands.ts';
import type { BrokerState } from './state.ts';
import { isVotedOn } from './trust/votes.ts';

/** More replicas than can have been placed since the journal was last synced. */
const forgottenMax = 10_000_000;

/**
 * Passes over replica ids that may have been given already, when the host has started again since the journal was
 * written: it may
 * have forgotten placements that machines remember, and a report of one task must not count for another. Before
 * anything else.
 */
export function skipForgottenIds(state: BrokerState): void {
  state.nextReplicaId += forgottenMax;
}

/**
 * What the driver must do first after a restart, once the journal is replayed: connect to every provider, and go on
 * with the results that were being settled. Machines are suspect until their providers report them; from now on their
 * grace runs. The timer is set to now, so that the first step looks for everything that is due.
 */
export function resume(state: BrokerState, now: Instant): BrokerCommand[] {
  const commands: BrokerCommand[] = [];
  for (const provider of state.providers.values()) {
    const { providerId, address } = provider;
    if (provider.isRemoved) continue;
    provider.isConnected = false;
    provider.awaySince = now;
    provider.listeningUntil = now + state.options.onWithin;
    provider.resourceAwaitedUntil = provider.listeningUntil;
    commands.push({ kind: 'ConnectProvider', providerId, address });
  }
  for (const success of state.successes.values()) {
    if (isVotedOn(success.job)) {
      if (success.digest === undefined) commands.push(digestCommand(success));
    } else if (success.task.successes?.[0] === success) commands.push(acceptCommand(success));
  }
  // Only a step knows all deadlines, and sets the timer to the next one: a list of them here would miss one sooner or
  // later.
  state.wakeAt = now;
  commands.push({ kind: 'WakeAt', at: now });
  return commands;
}
