import { invariant } from '../../../shared/index.ts';
import { findLeader } from './gang.ts';
import type { BrokerGang, BrokerReplica, BrokerState } from '../state.ts';
import { getAlternative, getGroup } from '../jobs/task-groups.ts';

/**
 * Checks that gangs do not contradict themselves or the rest of the state. @throws {InvariantError} naming the first
 * contradiction.
 */
export function checkGangs(state: BrokerState): void {
  invariant(state.brokenGangs.size === 0, 'a gang is broken, and its members were not notified');
  for (const [gangId, gang] of state.gangs) checkGang(state, gangId, gang);
  for (const replica of state.replicas.values()) {
    const { member, replicaId, processors, job } = replica;
    if (member === undefined) {
      invariant(
        !job.isGang && isWidth(replica),
        () => `replica ${replicaId} of ${job.isGang ? 'a gang' : 'no gang'} holds ${processors} processors`,
      );
    } else
      invariant(
        state.gangs.get(member.gang.gangId)?.members.includes(replica),
        () => `replica ${replicaId} is not among the members of its gang`,
      );
  }
}

/** After the end of a job, the widths of its tasks are no longer known. */
function isWidth({ processors, job, task, alternative }: BrokerReplica): boolean {
  if (job.groups.length === 0) return processors >= 1;
  const queue = getAlternative(getGroup(job, task.index).queue, alternative);
  return processors >= queue.processors && processors <= queue.processorsMax;
}

function checkGang(state: BrokerState, gangId: number, gang: BrokerGang): void {
  const name = (): string => `gang ${gangId}`;
  const { members, heldCount, status, brokenBy, job } = gang;
  invariant(
    gang.gangId === gangId && gangId <= job.lastGangId && job.isGang,
    () => `${name()} is of another job, or has another number`,
  );
  invariant(members.length > 0, () => `${name()} has no members`);
  for (const replica of members) checkMember(state, name, replica);
  invariant(
    new Set(members.map(({ machine }) => machine)).size === members.length,
    () => `${name()} has two members on one machine`,
  );
  invariant(
    new Set(members.map(({ machine: { provider } }) => provider)).size === 1,
    () => `${name()} is spread over several providers`,
  );
  if (brokenBy !== undefined) {
    invariant(
      members.every((replica) => replica.status === 'aborting'),
      () => `${name()} is broken, and a member of it goes on`,
    );
    return;
  }
  const processors = members.reduce((sum, replica) => sum + replica.processors, 0);
  invariant(
    processors === job.processors,
    () => `${name()} holds ${processors} processors; its task takes ${job.processors}`,
  );
  invariant(
    members.every(({ member }, rank) => member?.rank === rank) && findLeader(gang) !== undefined,
    () => `${name()} has gaps in its ranks`,
  );
  const held = members.filter(({ member }) => member?.held !== undefined).length;
  invariant(held === heldCount, () => `${name()} has ${held} held members and says ${heldCount}`);
  invariant(
    status === 'gathered' || held === members.length,
    () => `${name()} has started before all its members were held`,
  );
  invariant(
    status === 'started' || members.every(({ startedAt, status: own }) => startedAt === 0 && own !== 'running'),
    () => `a member of ${name()} runs before its gang started`,
  );
}

function checkMember(state: BrokerState, name: () => string, replica: BrokerReplica): void {
  const { replicaId, processors, member, machine } = replica;
  invariant(state.replicas.get(replicaId) === replica, () => `${name()} has a member ${replicaId} that has ended`);
  invariant(
    processors >= 1 && processors <= machine.processors,
    () => `member ${replicaId} of ${name()} holds ${processors} processors of a machine with ${machine.processors}`,
  );
  invariant(
    member !== undefined && replicaId >= member.gang.gangId,
    () => `member ${replicaId} of ${name()} has a number before its leader's`,
  );
}
