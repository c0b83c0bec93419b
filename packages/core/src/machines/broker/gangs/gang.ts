import type { ProcessorCount } from '../../../shared/index.ts';
import type { BrokerGang, BrokerReplica } from '../state.ts';

/** The machine of a gang member, and its processors there. */
export interface GangSeat<Machine> {
  readonly machine: Machine;
  readonly processors: ProcessorCount;
}

/** The member that runs the command; undefined once it has ended. */
export function findLeader({ members: [first] }: BrokerGang): BrokerReplica | undefined {
  return first?.member?.rank === 0 ? first : undefined;
}

/** Whether a replica is a gang member other than the leader: its end says nothing of the task. */
export function isFollower({ member }: Partial<Pick<BrokerReplica, 'member'>>): boolean {
  return member !== undefined && member.rank > 0;
}
