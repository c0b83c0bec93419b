import type { Lease, LeaseGroup } from '@mutirao/core/messages';

import type { Lease as LeaseWire, LeaseGroup as LeaseGroupWire } from '../generated/mutirao/provider/v1/provider.ts';
import { limits } from '../limits.ts';
import { badRequest, boundList, boundName, boundNumber, boundText } from './common.ts';
import { decodeStartReplicas, encodeStartReplicas } from './start-replicas.ts';

/** Reads a lease. @throws {MutiraoError} MUT_BAD_REQUEST when it has no number, or a group nothing to start. */
export function decodeLease(wire: LeaseWire): Lease {
  if (wire.sequence < 1) throw badRequest(`lease.sequence is ${wire.sequence}; expected 1 or more`);
  const { sequence, horizonMs, groups, quarantinedIdentities } = wire;
  boundList(quarantinedIdentities, 'identities', 'lease.quarantined_identities');
  for (const identity of quarantinedIdentities) boundName(identity, 'name', 'lease.quarantined_identities');
  return {
    sequence,
    horizon: boundNumber(horizonMs, 'duration', 'lease.horizon_ms'),
    groups: groups.map(decodeLeaseGroup),
    ...(quarantinedIdentities.length === 0 ? {} : { quarantined: quarantinedIdentities }),
  };
}

/** Writes a lease for the wire. */
export function encodeLease({ sequence, horizon, groups, quarantined = [] }: Lease): LeaseWire {
  return {
    sequence,
    horizonMs: Math.min(horizon, limits.duration.max),
    groups: groups.map(encodeLeaseGroup),
    quarantinedIdentities: quarantined.slice(0, limits.identities.max),
  };
}

function decodeLeaseGroup({ start, requirements, taskTimeMs }: LeaseGroupWire): LeaseGroup {
  if (start === undefined) throw badRequest('lease.groups.start is absent');
  return {
    start: decodeStartReplicas(start),
    requirements: boundText(requirements, 'requirements', 'lease.groups.requirements'),
    taskTime: boundNumber(taskTimeMs, 'duration', 'lease.groups.task_time_ms'),
  };
}

function encodeLeaseGroup({ start, requirements, taskTime }: LeaseGroup): LeaseGroupWire {
  return { start: encodeStartReplicas(start), requirements, taskTimeMs: Math.min(taskTime, limits.duration.max) };
}
