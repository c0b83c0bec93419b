import type { GetReason, Reason } from '../../../reasons/index.ts';
import { listedMax } from './explanation.ts';
import { countReplicasAt } from '../machines/takes-work.ts';
import type { BrokerMachine, BrokerProvider, DrainedMachine } from '../state.ts';

/** Says that providers are draining, since when, and what still runs there; nothing where none is. */
export function describeDraining(providers: Iterable<BrokerProvider>): GetReason<'provider-is-draining'>[] {
  return [...providers].flatMap((provider) => describeOne(provider)).slice(0, listedMax);
}

/** How draining providers get work again. */
export function adviseUndrain(providers: Iterable<BrokerProvider>): Reason[] {
  return [...providers]
    .filter(({ draining }) => draining !== undefined)
    .slice(0, listedMax)
    .map(({ providerId }) => ({ code: 'advise-provider-undrain', providerId }));
}

/** Says that a machine is draining, since when, and what still runs there. */
export function describeDrainedMachine(
  { facts: { machineId }, replicas }: BrokerMachine,
  { since, reason }: DrainedMachine,
): Reason {
  const runningTasks = [...replicas.values()].filter(({ status }) => status !== 'aborting').length;
  return { code: 'machine-draining', machineId, sinceUnixMs: since, runningTasks, cause: reason };
}

function describeOne(provider: BrokerProvider): GetReason<'provider-is-draining'>[] {
  const { providerId, draining } = provider;
  if (draining === undefined) return [];
  const { since, reason } = draining;
  return [
    {
      code: 'provider-is-draining',
      providerId,
      sinceUnixMs: since,
      runningTasks: countReplicasAt(provider),
      cause: reason,
    },
  ];
}
