import type { Instant } from '../../../shared/index.ts';
import type { GrantedLease } from './leases.ts';
import type { BrokerProvider } from '../state.ts';

/** The lease that a provider would go by now; undefined where it never got one. */
export function presentLease({ leases }: BrokerProvider): GrantedLease | undefined {
  return leases.at(-1);
}

/** Until when a provider that is away may start leased tasks; undefined if it is connected, or cannot go on alone. */
export function leaseEnd({ awaySince, leases, confirmedLease }: BrokerProvider): Instant | undefined {
  if (awaySince === undefined || confirmedLease === 0) return undefined;
  return leases.reduce((end, { horizon }) => Math.max(end, awaySince + horizon), awaySince);
}
