import type { ProcessorCount } from '../../../shared/index.ts';
import type { BrokerGang, BrokerReplica } from '../state.ts';

/** Where a member of a gang is to be, and with how many processors. */
export interface GangSeat<Machine> {
  readonly machine: Machine;
  readonly processors: ProcessorCount;
}

/** The member that runs the command; undefined once it has ended. */
export function findLeader({ members: [first] }: BrokerGang): BrokerReplica | undefined {
  return first?.member?.rank === 0 ? first : undefined;
}

/** Whether a replica is a member of a gang beside its leader: what becomes of it says nothing of the task. */
export function isFollower({ member }: Partial<Pick<BrokerReplica, 'member'>>): boolean {
  return member !== undefined && member.rank > 0;
}
