import { isShutdown } from '../../../bag/index.ts';
import type { GangMemberReady } from '../../../messages/index.ts';
import type { Duration, JobId } from '../../../shared/index.ts';
import type { ReplicaDisposition } from '../changes.ts';
import { endUnreported, type UnreportedEnd } from '../results/endings.ts';
import { drained } from '../machines/takes-work.ts';
import { findLeader } from './gang.ts';
import { nameMembers } from './name-members.ts';
import type { BrokerGang, BrokerMachine, BrokerReplica, FirstEnd } from '../state.ts';
import { addCancel, cancelReplica, commit, type Turn, wakeBy } from '../turn.ts';

/** The code of a gang that ended because a member of it did. */
export const gangBroken = 'MUT_GANG_BROKEN';
/** The code of a gang that was given up because its members were not all held in time. */
export const gangNotHeld = 'MUT_GANG_NOT_READY';

/** Notes which members of gangs a machine says to be held; what it holds for a gang that is over is cancelled. */
export function noteHeld(turn: Turn, machine: BrokerMachine, reported: readonly GangMemberReady[]): void {
  const byJob = new Map<JobId, GangMemberReady[]>();
  for (const held of reported) {
    const replica = machine.replicas.get(held.replicaId);
    if (replica === undefined || replica.status === 'aborting') addCancel(turn, machine, held.replicaId);
    else if (isAwaited(replica))
      byJob.set(replica.job.jobId, [
        ...(byJob.get(replica.job.jobId)?.filter(({ replicaId }) => replicaId !== held.replicaId) ?? []),
        held,
      ]);
  }
  for (const [jobId, held] of byJob)
    commit(turn, { kind: 'MembersHeld', machineId: machine.facts.machineId, jobId, held, at: turn.now });
}

function isAwaited({ status, member }: BrokerReplica): boolean {
  return status === 'dispatched' && member !== undefined && member.held === undefined;
}

/** Machines that a reason names. */
const machinesNamedMax = 10;

/**
 * Starts gangs whose members are all ready, and ends those with a member that ended or was not ready in time. Messages
 * about ended gangs are handled on receipt. Cost: O(gangs on machines).
 */
export function reconcileGangs(turn: Turn): void {
  const { state, now } = turn;
  for (const gang of [...state.brokenGangs]) endBroken(turn, gang);
  state.brokenGangs.clear();
  for (const gang of state.gangs.values()) {
    if (gang.status !== 'gathered' || gang.brokenBy !== undefined || findLeader(gang)?.status !== 'dispatched')
      continue;
    const due = gang.dispatchedAt + state.options.gangHoldMax;
    if (isOfDraining(gang))
      giveBack(turn, gang, { disposition: 'withdrawn', reason: drained, detail: { code: 'provider-draining-gang' } });
    else if (isHeld(gang)) start(turn, gang);
    else if (due > now) wakeBy(turn, due);
    else giveUp(turn, gang);
  }
}

/** Whether all members wait for the start, and their machines were announced on this connection. */
function isHeld({ heldCount, members }: BrokerGang): boolean {
  return heldCount === members.length && members.every(({ machine }) => machine.isAnnounced);
}

function start(turn: Turn, gang: BrokerGang): void {
  const { gangId, job } = gang;
  commit(turn, { kind: 'GangStarted', jobId: job.jobId, gangId, at: turn.now });
  job.failedGangStarts = 0;
  for (const replica of gang.members) reportStart(turn, gang, replica);
}

function reportStart(
  turn: Turn,
  gang: BrokerGang,
  {
    replicaId,
    machine: {
      provider: { providerId },
      facts: { machineId },
    },
  }: BrokerReplica,
): void {
  turn.commands.push({
    kind: 'StartGang',
    providerId,
    machineId,
    start: { replicaId, members: nameMembers(gang.members) },
  });
}

/** Repeats the starts that a returned machine may have missed. */
export function repeatStarts(turn: Turn, machine: BrokerMachine): void {
  for (const replica of machine.replicas.values()) {
    const { member, status, startedAt } = replica;
    if (
      member?.gang.status === 'started' &&
      member.gang.brokenBy === undefined &&
      status === 'dispatched' &&
      startedAt === 0
    )
      reportStart(turn, member.gang, replica);
  }
}

/** Whether it has not begun at a provider that drains: all its members are of one provider. */
function isOfDraining({ members: [first] }: BrokerGang): boolean {
  return first !== undefined && first.machine.isAnnounced && first.machine.provider.draining !== undefined;
}

function giveUp(turn: Turn, gang: BrokerGang): void {
  const missing = gang.members
    .filter(({ member }) => member?.held === undefined)
    .map(({ machine }) => machine.facts.machineId);
  giveBack(turn, gang, {
    disposition: 'lost',
    reason: gangNotHeld,
    detail: { code: 'gang-members-not-ready', machineIds: missing.slice(0, machinesNamedMax) },
  });
}

/** Ends a gang that has not started. */
function giveBack(turn: Turn, gang: BrokerGang, end: UnreportedEnd): void {
  const leader = findLeader(gang);
  if (leader === undefined) return;
  cancelReplica(turn, leader);
  endUnreported(turn, leader, end);
  endBroken(turn, gang);
  turn.state.brokenGangs.delete(gang);
}

/** Ends the rest of a gang after a member has ended. Its leader goes first, and with it the task's run. */
function endBroken(turn: Turn, gang: BrokerGang): void {
  const { brokenBy } = gang;
  if (brokenBy === undefined) return;
  const leader = findLeader(gang);
  if (brokenBy.disposition !== 'served' && brokenBy.reason !== drained) pause(turn, gang);
  if (leader !== undefined && leader.status !== 'aborting') {
    cancelReplica(turn, leader);
    endUnreported(turn, leader, leaderEnd(gang, brokenBy));
  }
  for (const replica of gang.members) cancelReplica(turn, replica);
}

/** How its leader's run ends if another member ended first: that is the task's fault only if a limit stopped it. */
function leaderEnd(gang: BrokerGang, { disposition, outcome, reason, detail, machineId }: FirstEnd): UnreportedEnd {
  if (outcome === 'limited') {
    return {
      disposition: 'failed',
      reason,
      detail: { code: 'gang-member-ended', machineId, endCode: '', cause: detail },
    };
  }
  // Nothing of it ran, or an operator took it away, and nothing that it does brought this about.
  const wasSpared =
    reason === drained || (gang.status === 'gathered' && (outcome === undefined || disposition === 'withdrawn'));
  const end: ReplicaDisposition = wasSpared ? 'withdrawn' : 'lost';
  // As for the loss of all its machines, the task is not to blame for the shutdown of one.
  return {
    disposition: end,
    reason: isShutdown(reason) ? reason : gangBroken,
    detail: { code: 'gang-member-ended', machineId, endCode: reason, cause: detail },
  };
}

/**
 * Makes a job's gangs wait a while after they end before they start, whatever the reason: otherwise they would be
 * placed and end without a pause.
 */
function pause({ state, now }: Turn, { status, job }: BrokerGang): void {
  if (status !== 'gathered' || job.status !== 'running') return;
  job.failedGangStarts++;
  job.gangsPausedUntil = now + pauseAfter(job.failedGangStarts, state.options.gangPause);
}

function pauseAfter(count: number, { least, most }: { readonly least: Duration; readonly most: Duration }): Duration {
  return Math.min(most, least * 2 ** Math.min(count - 1, 30));
}

/** Has the members that follow a leader ended by their machines. */
export function cancelFollowers(turn: Turn, { member }: BrokerReplica): void {
  for (const replica of member?.gang.members ?? []) if (replica.member?.rank !== 0) cancelReplica(turn, replica);
}
