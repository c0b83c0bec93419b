import { invariant } from '../../../shared/index.ts';
import type { ChangeOf, ReplicaEnding } from '../changes.ts';
import type { BrokerReplica, BrokerState } from '../state.ts';

/** Notes of members that they are held. */
export function holdMembers(state: BrokerState, { held, at }: ChangeOf<'MembersHeld'>): void {
  for (const { replicaId, name, addresses } of held) {
    const member = state.replicas.get(replicaId)?.member;
    invariant(
      member !== undefined && member.held === undefined,
      `replica ${replicaId} is held, but is not a member that could be`,
    );
    member.held = { name, addresses, at };
    member.gang.heldCount++;
  }
}

/** Lets a gang run. */
export function startGang({ gangs }: BrokerState, { gangId }: ChangeOf<'GangStarted'>): void {
  const gang = gangs.get(gangId);
  invariant(gang?.heldCount === gang?.members.length, `gang ${gangId} starts, but not all of it is held`);
  if (gang !== undefined) gang.status = 'started';
}

/**
 * Takes a member that ends out of its gang, which is broken from then on. When the leader ends, the others end too:
 * after its success they have served their purpose.
 */
export function leaveGang(state: BrokerState, replica: BrokerReplica, ending: ReplicaEnding): void {
  const { member } = replica;
  if (member === undefined) return;
  const { gang, rank } = member;
  if (rank === 0) abortFollowers(replica, ending.disposition === 'accepted' ? 'served' : 'cancelled');
  gang.members.splice(gang.members.indexOf(replica), 1);
  const { disposition, outcome, reason, detail } = ending;
  if (gang.brokenBy === undefined) {
    gang.brokenBy = {
      disposition,
      outcome,
      reason,
      detail,
      machineId: replica.machine.facts.machineId,
      requestId: replica.machine.facts.requestId,
    };
    state.brokenGangs.add(gang);
  }
  if (gang.members.length === 0) {
    state.gangs.delete(gang.gangId);
    state.brokenGangs.delete(gang);
  }
}

/** Marks those that follow a leader as aborting, but those that are already. */
export function abortFollowers({ member }: BrokerReplica, disposition: 'served' | 'cancelled'): void {
  for (const replica of member?.gang.members ?? []) {
    if (replica.member?.rank === 0) continue;
    replica.status = 'aborting';
    replica.abortDisposition ??= disposition;
  }
}
