import { getIdentity } from '../../../messages/index.ts';
import type { BrokerMachine, BrokerProvider, BrokerState, DrainedMachine } from '../state.ts';

/**
 * The code of whatever ended, or was taken back, because the owner of a provider drains it: such an end counts against
 * no task.
 */
export const drained = 'MUT_DRAINING';

/** Whether a provider takes no new work, by its own word. */
export function isDraining({ draining, resource }: Pick<BrokerProvider, 'draining' | 'resource'>): boolean {
  return draining !== undefined || resource?.resourceStatus.isDraining === true;
}

/** How a machine is drained by itself; undefined where it is not. */
export function findDrain(
  { drainedMachines }: Pick<BrokerState, 'drainedMachines'>,
  { facts }: BrokerMachine,
): DrainedMachine | undefined {
  return drainedMachines.size === 0 ? undefined : drainedMachines.get(getIdentity(facts));
}

/** The providers that were not removed. */
export function listUsedProviders({ providers }: Pick<BrokerState, 'providers'>): BrokerProvider[] {
  return [...providers.values()].filter(({ isRemoved }) => !isRemoved);
}

/** Whether a provider is there and takes work. */
export function takesWork(provider: Pick<BrokerProvider, 'isConnected' | 'draining' | 'resource'>): boolean {
  return provider.isConnected && !isDraining(provider);
}

/** Replicas on a provider's machines that have not ended and are wanted. Cost: O(replicas there). */
export function countReplicasAt({ machines }: Pick<BrokerProvider, 'machines'>): number {
  let count = 0;
  for (const { replicas } of machines.values())
    for (const { status } of replicas.values()) if (status !== 'aborting') count++;
  return count;
}
