import { invariant, type Instant } from '../../shared/index.ts';
import type { ProviderChange } from './changes.ts';
import { keptKey, openLease, dispatchLeased, reReportLease, revokedLease } from './spooled-lease.ts';
import type { BrokerId, KnownBroker, ProviderState } from './state.ts';

type ChangeOf<Kind extends ProviderChange['kind']> = Extract<ProviderChange, { readonly kind: Kind }>;

function getBroker(state: ProviderState, brokerId: BrokerId): KnownBroker {
  const broker = state.brokers.get(brokerId);
  invariant(broker !== undefined, `a lease of broker ${brokerId}, which is not known`);
  return broker;
}

/** Keeps a lease in place of the former one, which may be the same one in another outline. */
export function takeLease(state: ProviderState, { brokerId, lease }: ChangeOf<'LeaseTaken'>): void {
  const broker = getBroker(state, brokerId);
  const { lease: former } = broker;
  broker.lease = former?.outline.sequence === lease.sequence ? reReportLease(former, lease) : openLease(lease);
}

/** Removes revoked replicas from a lease. */
export function revokeLease(state: ProviderState, { brokerId, replicaIds }: ChangeOf<'LeaseRevoked'>): void {
  const broker = getBroker(state, brokerId);
  invariant(broker.lease !== undefined, `what broker ${brokerId} leased is trimmed, which is nothing`);
  broker.lease = revokedLease(broker.lease, replicaIds);
}

/** Notes which leased replicas run where. */
export function startLeased(state: ProviderState, { brokerId, machineId, replicaIds }: ChangeOf<'LeaseStarted'>): void {
  const { lease } = getBroker(state, brokerId);
  invariant(lease !== undefined, `replicas of broker ${brokerId} start, which leased nothing`);
  for (const replicaId of replicaIds) dispatchLeased(lease, replicaId, machineId);
}

/** Notes that leased replicas no longer run, and may start again. */
export function returnLeased(state: ProviderState, { brokerId, replicaIds }: ChangeOf<'LeaseReturned'>): void {
  const { lease } = getBroker(state, brokerId);
  invariant(lease !== undefined, `replicas of broker ${brokerId} are put back, which leased nothing`);
  for (const replicaId of replicaIds) dispatchLeased(lease, replicaId, undefined);
}

/** Begins to go on alone, or ends it. */
export function setStandby(state: ProviderState, brokerId: BrokerId, since: Instant): void {
  getBroker(state, brokerId).standbySince = since;
}

/** Knows of a report in the spool. */
export function keepReport(
  state: ProviderState,
  { brokerId, facts, sequence, endedReplicaIds, bytes }: ChangeOf<'ReportSpooled'>,
): void {
  const key = keptKey(facts);
  let kept = state.kept.get(key);
  if (kept === undefined) state.kept.set(key, (kept = { facts, brokerId, reports: [], reportedConnectionId: 0 }));
  kept.reports.push({ sequence, endedReplicaIds, bytes });
  state.keptBytes += bytes;
}

/** Forgets reports that their broker has. */
export function forgetReports(
  state: ProviderState,
  { machineId, incarnation, upTo }: ChangeOf<'ReportsForgotten'>,
): void {
  const key = keptKey({ machineId, incarnation });
  const kept = state.kept.get(key);
  if (kept === undefined) return;
  while (kept.reports[0] !== undefined && kept.reports[0].sequence <= upTo) {
    state.keptBytes -= kept.reports[0].bytes;
    kept.reports.shift();
  }
  if (kept.reports.length === 0) state.kept.delete(key);
}
