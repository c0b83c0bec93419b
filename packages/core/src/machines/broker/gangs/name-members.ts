import type { GangMember } from '../../../messages/index.ts';
import type { BrokerReplica } from '../state.ts';

/** What members learn of each other, by rank. Names that two of them have in common get their ranks as a suffix. */
export function nameMembers(members: readonly BrokerReplica[]): GangMember[] {
  const taken = new Set<string>();
  return members.map(({ member, processors }, rank) => {
    const { name: own = '', addresses = [] } = member?.held ?? {};
    let name = own;
    for (let suffix = rank; taken.has(name); suffix++) name = `${own}.${suffix}`;
    taken.add(name);
    return { rank, name, addresses, processors };
  });
}
