import { type Bytes, countIn, type Instant } from '../../shared/index.ts';
import type { KnownBroker, ProviderState } from './state.ts';

/** Whether the provider goes on alone with what the broker leased it. */
export function isStandby({ standbySince }: KnownBroker): boolean {
  return standbySince > 0;
}

/** Until when leased replicas of a standby may be started. */
export function leaseEnd({ standbySince, lease }: KnownBroker): Instant {
  return standbySince + (lease?.outline.horizon ?? 0);
}

/** Bytes of reports that may still be kept. */
export function roomForReports({ config, keptBytes }: ProviderState): Bytes {
  return Math.max(0, config.keptBytesMax - keptBytes);
}

/** Leased replicas that were not started. */
export function leftOfLease({ lease }: KnownBroker): number {
  if (lease === undefined) return 0;
  return lease.outline.groups.reduce((sum, { replicas }) => sum + countIn(replicas), 0) - lease.started.size;
}
