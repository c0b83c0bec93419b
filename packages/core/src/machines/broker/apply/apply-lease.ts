import { countIn, invariant, type ProviderId, type ReplicaId } from '../../../shared/index.ts';
import { getProvider } from './apply-machine.ts';
import type { ChangeOf } from '../changes.ts';
import { findLeasedTask, openLease } from '../leases/leases.ts';
import type { BrokerState } from '../state.ts';

/** Knows a lease: its ids are given away for good. */
export function grantLease(
  state: BrokerState,
  { providerId, sequence, horizon, parts }: ChangeOf<'LeaseGranted'>,
): void {
  getProvider(state, providerId).leases.push(openLease({ sequence, horizon, parts }));
  for (const { firstReplicaId, taskRanges } of parts)
    state.nextReplicaId = Math.max(state.nextReplicaId, firstReplicaId + countIn(taskRanges));
}

/** Forgets the leases before one that the provider confirmed: nothing of them can come back any more. */
export function confirmLease(state: BrokerState, { providerId, sequence }: ChangeOf<'LeaseConfirmed'>): void {
  const provider = getProvider(state, providerId);
  provider.confirmedLease = sequence;
  while ((provider.leases[0]?.sequence ?? sequence) < sequence) provider.leases.shift();
}

/** Notes that a leased replica has come back, so that it never does again. */
export function takeFromLease(state: BrokerState, providerId: ProviderId, replicaId: ReplicaId): void {
  const lease = getProvider(state, providerId).leases.find((one) => findLeasedTask(one, replicaId) !== undefined);
  invariant(lease !== undefined && !lease.adopted.has(replicaId), `replica ${replicaId} is adopted, and is not leased`);
  lease.adopted.add(replicaId);
}
