import type { Reason } from '../../../reasons/index.ts';
import type { MachineReport, ReplicaEnd } from '../../../messages/index.ts';
import { getHealth, isMisconduct, isShutdown, noteHealth, type ReportHealth } from '../../../bag/index.ts';
import type { Duration, Instant, ReplicaId } from '../../../shared/index.ts';
import { askToAccept, digestCommand } from './bring-home.ts';
import type { ReplicaEnding } from '../changes.ts';
import { endUnreported, statusAfter, reportedEnding } from './endings.ts';
import { findEndFault } from './report-fault.ts';
import { isFollower, findLeader } from '../gangs/gang.ts';
import type { GetInput } from '../inputs.ts';
import type { BrokerJob, BrokerMachine, BrokerReplica } from '../state.ts';
import { getGroup, getTaskGroup } from '../jobs/task-groups.ts';
import { noteHeld } from '../gangs/reconcile-gangs.ts';
import { addCancel, cancelReplica, commit, type Turn } from '../turn.ts';
import { noteMisconduct } from '../trust/convict.ts';
import { getIdentity } from '../trust/trust-records.ts';
import { isVotedOn } from '../trust/votes.ts';

/**
 * Handles what happened on a machine and acknowledges it. What it says of replicas that have ended is stale.
 *
 * A report of an unknown machine is not acknowledged: the machine is announced again before it matters.
 */
export function takeReport(turn: Turn, input: GetInput<'MachineReported'>): void {
  const machine = turn.state.machines.get(input.machineId);
  if (machine === undefined) return;
  // A repeated report counts once.
  const ends = input.report.ended.filter(
    ({ outcome, replicaId }) => outcome !== 'broken' || machine.replicas.has(replicaId),
  );
  noteShutdown(turn, machine, ends);
  noteHealth(machine, judgeHealth(machine, ends), { rules: turn.state.options.quarantine, now: turn.now });
  noteStarts(turn, machine, input.report);
  noteHeld(turn, machine, input.report.gangMemberReady ?? []);
  noteEnds(turn, machine, input.report.ended);
  const {
    provider: { providerId },
    facts: { machineId },
  } = machine;
  turn.commands.push({ kind: 'AcknowledgeReport', providerId, machineId, sequence: input.report.sequence });
}

/**
 * What a report says of its machine. If a task may be at fault as well, the machine is blamed only on evidence in
 * favour of the task: a task of another job ended in the same way there, or tasks of this one have finished.
 */
function judgeHealth(machine: BrokerMachine, ends: readonly ReplicaEnd[]): ReportHealth {
  const health = getHealth(ends);
  if (health === 'sound') {
    machine.doubtedJobId = 0;
    machine.shutdownCount = 0;
  }
  if (health !== 'doubted') return health;
  const job = ends.map(({ replicaId }) => machine.replicas.get(replicaId)?.job).find((one) => one !== undefined);
  if (job === undefined) return 'silent';
  const { doubtedJobId } = machine;
  machine.doubtedJobId = job.jobId;
  return job.finished.size > 0 || (doubtedJobId !== 0 && doubtedJobId !== job.jobId) ? 'broken' : 'silent';
}

/**
 * Long enough for all agents of an allocation to receive the signal, and for one that stops to be gone. It doubles for
 * a machine that reports a stop and stays.
 */
const shutdownPause: Duration = 5_000;

/**
 * Places nothing for a while on a machine that is stopping, nor on the others of its allocation: the cause probably
 * ends all of them, and returned tasks would go to the next that is about to stop.
 */
function noteShutdown({ state, now }: Turn, machine: BrokerMachine, ends: readonly ReplicaEnd[]): void {
  if (machine.quarantinedUntil <= now) machine.isStopping = false;
  if (!ends.some(({ outcome, reason }) => outcome === 'broken' && isShutdown(reason))) return;
  const {
    provider,
    facts: { requestId },
  } = machine;
  // What is reported within the pause is of the same shutdown.
  if (!machine.isStopping) machine.shutdownCount++;
  const stopping =
    requestId === ''
      ? [machine]
      : [...state.machines.values()].filter(
          (other) => other.provider === provider && other.facts.requestId === requestId,
        );
  for (const other of stopping) {
    other.quarantinedUntil = Math.max(other.quarantinedUntil, now + shutdownPause);
    other.isStopping = true;
  }
  const doublings = Math.min(30, Math.max(0, machine.shutdownCount - 1));
  machine.quarantinedUntil = Math.max(
    machine.quarantinedUntil,
    now + Math.min(state.options.quarantine.longest, shutdownPause * 2 ** doublings),
  );
}

function noteStarts(turn: Turn, machine: BrokerMachine, report: MachineReport): void {
  const byJob = new Map<BrokerJob, { replicaId: ReplicaId; startedAt: Instant }[]>();
  for (const start of report.started) {
    const replica = machine.replicas.get(start.replicaId);
    // It was on its way when it was given up. Of one that has ended since, the machine knows nothing any more.
    if (replica === undefined) addCancel(turn, machine, start.replicaId);
    if (replica === undefined || replica.startedAt !== 0) continue;
    const started = byJob.get(replica.job);
    if (started === undefined) byJob.set(replica.job, [start]);
    else started.push(start);
  }
  for (const [job, started] of byJob) {
    commit(turn, { kind: 'ReplicasStarted', machineId: machine.facts.machineId, jobId: job.jobId, started });
  }
}

function noteEnds(turn: Turn, machine: BrokerMachine, ends: readonly ReplicaEnd[]): void {
  const byJob = new Map<BrokerJob, ReplicaEnding[]>();
  const faulty: FaultyEnd[] = [];
  for (const end of ends) {
    const replica = machine.replicas.get(end.replicaId);
    if (replica === undefined || replica.isEnding) continue;
    const fault = findEndFault(replica, end);
    if (fault !== undefined) {
      faulty.push({ replica, end, fault });
      continue;
    }
    const ending = reportedEnding(turn, replica, end);
    if (ending.disposition === 'accepted' && needsVerifying(replica)) {
      verify(turn, replica, ending);
      continue;
    }
    if (ending.disposition === 'accepted') cancelSiblings(turn, replica);
    replica.isEnding = true;
    addTo(byJob, replica.job, ending);
  }
  for (const [job, endings] of byJob) {
    commit(turn, {
      kind: 'ReplicasEnded',
      machineId: machine.facts.machineId,
      jobId: job.jobId,
      endings,
      at: turn.now,
    });
  }
  // Last: the first of them costs the machine all else that it runs.
  for (const one of faulty) refuseEnd(turn, one);
}

function addTo(byJob: Map<BrokerJob, ReplicaEnding[]>, job: BrokerJob, ending: ReplicaEnding): void {
  const endings = byJob.get(job);
  if (endings === undefined) byJob.set(job, [ending]);
  else endings.push(ending);
}

interface FaultyEnd {
  readonly replica: BrokerReplica;
  readonly end: ReplicaEnd;
  readonly fault: Reason;
}

/** Ends a replica whose machine reports what cannot be, and holds that against the machine and not against the task. */
function refuseEnd(turn: Turn, { replica, end, fault }: FaultyEnd): void {
  if (!turn.state.replicas.has(replica.replicaId)) return;
  const {
    job: { jobId },
    task,
    machine: { facts },
  } = replica;
  const code = 'MUT_BAD_REPORT';
  const reported = reportedEnding(turn, replica, { ...end, outcome: 'broken', reason: code, detail: fault });
  const ending =
    replica.abortDisposition !== undefined || isFollower(replica)
      ? reported
      : { ...reported, disposition: 'outvoted' as const };
  const { machineId } = facts;
  commit(turn, {
    kind: 'ReplicasEnded',
    machineId,
    jobId,
    endings: [{ ...ending, taskStatus: statusAfter(replica, ending, turn.state.options) }],
    at: turn.now,
  });
  noteMisconduct(
    turn,
    { identity: getIdentity(facts), machineId },
    {
      code,
      detail: { code: 'replica-misreported', replicaId: replica.replicaId, cause: fault },
      task: { jobId, taskIndex: task.index },
    },
  );
}

function needsVerifying(replica: BrokerReplica): boolean {
  if (isVotedOn(replica.job)) return true;
  const group = getTaskGroup(replica.job, getGroup(replica.job, replica.task.index).groupIndex);
  return group.outputs.length > 0 || (group.check !== '' && replica.job.verification?.kind !== 'none');
}

/** Sets a success aside; the first one of its task is brought home, and with votes each one is digested. */
function verify(turn: Turn, replica: BrokerReplica, reported: ReplicaEnding): void {
  const { job, task, machine } = replica;
  const ending: ReplicaEnding = { ...reported, taskStatus: 'verifying' };
  commit(turn, {
    kind: 'ReplicaVerifying',
    machineId: machine.facts.machineId,
    jobId: job.jobId,
    ending,
    at: turn.now,
  });
  const success = turn.state.successes.get(ending.replicaId);
  if (success !== undefined && isVotedOn(job)) turn.commands.push(digestCommand(success));
  else if (task.successes?.length === 1) askToAccept(turn, task);
}

function cancelSiblings(turn: Turn, winner: BrokerReplica): void {
  if (winner.task.replicas.length === 1) return;
  for (const sibling of winner.task.replicas) {
    if (sibling !== winner) cancelReplica(turn, sibling);
  }
}

/** Counts a replica that could not be sent as a failure of its task, or of its machine if only that is at fault. */
export function giveUpUnstartable(turn: Turn, input: GetInput<'ReplicaUnstartable'>): void {
  const replica = turn.state.replicas.get(input.replicaId);
  if (replica === undefined) return;
  const { reason, detail } = input;
  const disposition = isMisconduct(reason) ? 'withdrawn' : 'failed';
  const leader =
    isFollower(replica) && replica.status !== 'aborting'
      ? replica.member && findLeader(replica.member.gang)
      : undefined;
  // Of a gang it is the task that cannot be sent, whichever member shows it.
  if (leader !== undefined) {
    endUnreported(turn, leader, { disposition, reason, detail });
    cancelReplica(turn, leader);
  }
  endUnreported(turn, replica, { disposition, reason, detail });
  const {
    job: { jobId },
    task,
    machine: { facts },
  } = replica;
  noteMisconduct(
    turn,
    { identity: getIdentity(facts), machineId: facts.machineId },
    { code: reason, detail, task: { jobId, taskIndex: task.index } },
  );
}
