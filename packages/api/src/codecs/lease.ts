import type { Lease, LeaseGroup } from '@mutirao/core/messages';

import type { Lease as LeaseWire, LeaseGroup as LeaseGroupWire } from '../generated/mutirao/provider/v1/provider.ts';
import { badRequest } from './common.ts';
import { decodeStartReplicas, encodeStartReplicas } from './machine.ts';

/** Reads a lease. @throws {MutiraoError} MUT_BAD_REQUEST when it has no number, or a group nothing to start. */
export function decodeLease(wire: LeaseWire): Lease {
  if (wire.sequence < 1) throw badRequest(`lease.sequence is ${wire.sequence}; want 1 or more`);
  const { sequence, horizonMs, groups, caughtIdentities } = wire;
  return { sequence, horizon: horizonMs, groups: groups.map(decodeLeaseGroup), ...(caughtIdentities.length === 0 ? {} : { caught: caughtIdentities }) };
}

/** Writes a lease for the wire. */
export function encodeLease({ sequence, horizon, groups, caught = [] }: Lease): LeaseWire {
  return { sequence, horizonMs: horizon, groups: groups.map(encodeLeaseGroup), caughtIdentities: [...caught] };
}

function decodeLeaseGroup({ start, requirements, taskTimeMs }: LeaseGroupWire): LeaseGroup {
  if (start === undefined) throw badRequest('lease.groups.start is absent');
  return { start: decodeStartReplicas(start), requirements, taskTime: taskTimeMs };
}

function encodeLeaseGroup({ start, requirements, taskTime }: LeaseGroup): LeaseGroupWire {
  return { start: encodeStartReplicas(start), requirements, taskTimeMs: taskTime };
}
