import type { LeaseState } from '@mutirao/api/provider';
import { leftOfLease, type KnownBroker, type ProviderState } from '@mutirao/core/machines/provider';
import type { Standby } from './standby.ts';

/** How the provider stands in, or would, for a broker; undefined where nothing was leased and nothing is kept. */
export function describeLease(
  state: ProviderState,
  broker: KnownBroker,
  standby: Pick<Standby, 'spooledBytesOf' | 'leases'> | undefined,
): LeaseState | undefined {
  const { brokerId, connectionId, standbySince, lease } = broker;
  const kept = [...state.kept.values()]
    .filter((machine) => machine.brokerId === brokerId)
    .flatMap(({ reports }) => reports);
  if (lease === undefined && kept.length === 0) return undefined;
  const horizon = lease?.outline.horizon ?? 0;
  return {
    brokerId,
    connected: connectionId !== 0,
    leasedTasks: leftOfLease(broker),
    unstockedTasks: standby?.leases.unstockedCount(brokerId) ?? 0,
    horizonMs: horizon,
    standbySinceUnixMs: standbySince,
    standbyUntilUnixMs: standbySince === 0 ? 0 : standbySince + horizon,
    spooledReports: kept.length,
    spooledEnds: kept.reduce((sum, { endedReplicaIds }) => sum + endedReplicaIds.length, 0),
    spooledBytes: standby?.spooledBytesOf(brokerId) ?? 0,
  };
}
