import type { GangMemberReady, GangMember, GangMembership, StartGang } from '@mutirao/core/messages';

import type {
  GangMemberReady as GangMemberReadyWire,
  GangMember as GangMemberWire,
  GangMembership as GangMembershipWire,
  StartGang as StartGangWire,
} from '../generated/mutirao/machine/v1/machine.ts';
import { asBuffer } from '../wire/bytes.ts';
import { badRequest, boundList, boundName, boundProcessors } from './common.ts';

/** Bytes of a gang's key. */
const secretBytes = 32;
/** Members that a gang may have: a member receives all of them in one message. */
export const gangMembersMax = 10_000;

/**
 * Reads what a replica is in its gang. @throws {MutiraoError} MUT_BAD_REQUEST for a rank that there cannot be, or a key
 * of another length.
 */
export function decodeGangMembership({ gangId, rank, members, secret }: GangMembershipWire): GangMembership {
  if (gangId < 1) throw badRequest(`gang.gang_id is ${gangId}; expected 1 or more`);
  if (members < 1 || members > gangMembersMax)
    throw badRequest(`gang.members is ${members}; expected 1 to ${gangMembersMax}`);
  if (rank >= members) throw badRequest(`gang.rank is ${rank}; expected less than its ${members} members`);
  if (secret.length !== secretBytes)
    throw badRequest(`gang.secret has ${secret.length} bytes; expected ${secretBytes}`);
  return { gangId, rank, members, secret };
}

/** Writes what a replica is in its gang for the wire. */
export function encodeGangMembership({ gangId, rank, members, secret }: GangMembership): GangMembershipWire {
  return { gangId, rank, members, secret: asBuffer(secret) };
}

/** Reads that a member is held. @throws {MutiraoError} MUT_BAD_REQUEST where it has no name or no address. */
export function decodeGangMemberReady({ replicaId, name, addresses }: GangMemberReadyWire): GangMemberReady {
  if (replicaId < 1) throw badRequest(`gang_member_ready.replica_id is ${replicaId}; expected 1 or more`);
  if (!isName(name))
    throw badRequest(
      `gang_member_ready.name is ${JSON.stringify(name.slice(0, 100))}; expected 1 to 255 characters without spaces`,
    );
  if (addresses.length === 0) throw badRequest('gang_member_ready.addresses is empty; expected one or more');
  boundList(addresses, 'addresses', 'gang_member_ready.addresses');
  for (const address of addresses) boundName(address, 'address', 'gang_member_ready.addresses');
  return { replicaId, name, addresses };
}

/** Writes that a member is held for the wire. */
export function encodeGangMemberReady({ replicaId, name, addresses }: GangMemberReady): GangMemberReadyWire {
  return { replicaId, name, addresses: [...addresses] };
}

/**
 * Reads that a gang starts. @throws {MutiraoError} MUT_BAD_REQUEST where ranks have gaps or are out of order, or a
 * member has no name, address or processor.
 */
export function decodeStartGang({ replicaId, members }: StartGangWire): StartGang {
  if (replicaId < 1) throw badRequest(`start_gang.replica_id is ${replicaId}; expected 1 or more`);
  if (members.length < 1 || members.length > gangMembersMax)
    throw badRequest(`start_gang has ${members.length} members; expected 1 to ${gangMembersMax}`);
  return { replicaId, members: members.map(decodeGangMember) };
}

/** Writes that a gang starts for the wire. */
export function encodeStartGang({ replicaId, members }: StartGang): StartGangWire {
  return {
    replicaId,
    members: members.map(({ rank, name, addresses, processors }) => ({
      rank,
      name,
      addresses: [...addresses],
      processors,
    })),
  };
}

function decodeGangMember({ rank, name, addresses, processors }: GangMemberWire, index: number): GangMember {
  const path = `start_gang.members[${index}]`;
  if (rank !== index) throw badRequest(`${path}.rank is ${rank}; expected ${index}`);
  if (!isName(name))
    throw badRequest(
      `${path}.name is ${JSON.stringify(name.slice(0, 100))}; expected 1 to 255 characters without spaces`,
    );
  if (addresses.length === 0) throw badRequest(`${path}.addresses is empty; expected one or more`);
  boundList(addresses, 'addresses', `${path}.addresses`);
  for (const address of addresses) boundName(address, 'address', `${path}.addresses`);
  boundProcessors(processors, 'machineProcessors', `${path}.processors`);
  return { rank, name, addresses, processors };
}

/** It goes into variables and host files, a word each. */
function isName(name: string): boolean {
  return name.length <= 255 && /^[^\s\p{Cc}]+$/u.test(name);
}
