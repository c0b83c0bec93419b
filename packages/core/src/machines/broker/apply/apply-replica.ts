import { isCountedLoss, isDoubted, isStop } from '../../../bag/index.ts';
import type { TaskStatus } from '../../../messages/index.ts';
import { invariant, type Instant, type TaskIndex } from '../../../shared/index.ts';
import { getJob } from './apply-job.ts';
import { cancelDescendants, releaseSuccessors } from './apply-dependencies.ts';
import { leaveGang } from './apply-gang.ts';
import { takeFromLease } from './apply-lease.ts';
import { getMachine } from './apply-machine.ts';
import type { ChangeOf, ReplicaEnding } from '../changes.ts';
import { isFollower } from '../gangs/gang.ts';
import { findJudge } from '../results/judge-losses.ts';
import { book, getCharge, getRunTimes } from '../ledger/ledger-accounts.ts';
import { releaseResources, takeResources } from '../machines/machine-resources.ts';
import { outputsOn } from '../dispatch/matching.ts';
import { makeReady, takeReady } from '../jobs/ready-tasks.ts';
import { growMemory } from '../jobs/grow-memory.ts';
import { unassignTask, unassignElsewhere } from '../site-selection/assigned-tasks.ts';
import { walltimeMaxCode } from '../results/longest-walltime.ts';
import { observeTimes } from '../times/observe-times.ts';
import {
  type BrokerGang,
  type BrokerJob,
  type BrokerMachine,
  type BrokerReplica,
  type BrokerState,
  createEndedTask,
  createOpenTask,
  hasEnded,
  type OpenTask,
  type Success,
} from '../state.ts';
import { findResources, findWidth, getGroup, getTaskGroup } from '../jobs/task-groups.ts';
import { getIdentity } from '../trust/trust-records.ts';

const noBytes = new Uint8Array(0);

/** Puts replicas of tasks that are ready or run elsewhere on a machine. */
export function dispatchReplicas(state: BrokerState, change: ChangeOf<'ReplicasDispatched'>): void {
  const job = getJob(state, change.jobId);
  const machine = getMachine(state, change.machineId);
  const { alternative = 0 } = change;
  let replicaId = change.firstReplicaId;
  for (const index of change.taskIndexes) {
    const task = job.tasks.get(index) ?? openTask(job, index);
    const replica: BrokerReplica = {
      replicaId,
      job,
      task,
      machine,
      processors: change.processors ?? findWidth(job, index, alternative),
      resources: getResources(job, index, change),
      alternative,
      assignment: undefined,
      member: undefined,
      dispatchedAt: change.at,
      startedAt: 0,
      status: 'dispatched',
      abortDisposition: undefined,
      isAdopted: change.isAdopted === true,
      isWithdrawing: false,
      isEnding: false,
    };
    if (task.status === 'ready') setStatus(job, task, 'running');
    unassignElsewhere(job, index, machine.provider);
    if (replica.isAdopted) takeFromLease(state, machine.provider.providerId, replicaId);
    task.replicas.push(replica);
    if (task.replicas.length + (task.successes?.length ?? 0) > 1) job.withSibling.add(task);
    putOn(state, replica);
    replicaId++;
  }
  job.replicaCount += change.taskIndexes.length;
  state.nextReplicaId = Math.max(state.nextReplicaId, replicaId);
}

function getResources(
  job: BrokerJob,
  index: TaskIndex,
  { isAdopted, alternative = 0 }: ChangeOf<'ReplicasDispatched'>,
): BrokerReplica['resources'] {
  // A provider started it with what its lease says, also of a task that was given more memory since.
  return isAdopted === true ? getGroup(job, index).queue.resources : findResources(job, index, alternative);
}

/** Puts a gang on its machines, of which its task knows the leader. */
export function dispatchGang(state: BrokerState, change: ChangeOf<'GangDispatched'>): void {
  const { firstReplicaId, seats, at: dispatchedAt } = change;
  const job = getJob(state, change.jobId);
  const task = job.tasks.get(change.taskIndex) ?? openTask(job, change.taskIndex);
  const gang: BrokerGang = {
    gangId: firstReplicaId,
    job,
    task,
    members: [],
    heldCount: 0,
    status: 'gathered',
    dispatchedAt,
    brokenBy: undefined,
  };
  for (const [rank, { machineId, processors }] of seats.entries()) {
    const replica: BrokerReplica = {
      replicaId: firstReplicaId + rank,
      job,
      task,
      machine: getMachine(state, machineId),
      processors,
      resources: findResources(job, change.taskIndex),
      alternative: 0,
      assignment: undefined,
      member: { gang, rank, held: undefined },
      dispatchedAt,
      startedAt: 0,
      status: 'dispatched',
      abortDisposition: undefined,
      isAdopted: false,
      isWithdrawing: false,
      isEnding: false,
    };
    gang.members.push(replica);
    putOn(state, replica);
    if (rank === 0) task.replicas.push(replica);
  }
  setStatus(job, task, 'running');
  state.gangs.set(gang.gangId, gang);
  job.lastGangId = gang.gangId;
  job.replicaCount++;
  state.nextReplicaId = Math.max(state.nextReplicaId, firstReplicaId + seats.length);
}

function putOn(state: BrokerState, replica: BrokerReplica): void {
  const { machine, replicaId } = replica;
  machine.replicas.set(replicaId, replica);
  machine.heldProcessors += replica.processors;
  takeResources(replica);
  state.replicas.set(replicaId, replica);
  if (!isFollower(replica)) replica.job.onMachines++;
}

function openTask(job: BrokerJob, index: TaskIndex): OpenTask {
  const task = createOpenTask(index);
  job.tasks.set(index, task);
  return task;
}

/** Notes that replicas run. */
export function startReplicas(state: BrokerState, change: ChangeOf<'ReplicasStarted'>): void {
  for (const { replicaId, startedAt } of change.started) {
    const replica = state.replicas.get(replicaId);
    invariant(replica, `replica ${replicaId} starts, but there is none`);
    replica.startedAt = startedAt;
    if (!isFollower(replica)) replica.task.hasStarted = true;
    // Its machine keeps one that started, whatever it was asked.
    replica.isWithdrawing = false;
    if (replica.status === 'dispatched') replica.status = 'running';
  }
}

/** Marks replicas whose tasks go on without them. */
export function giveUpReplicas(state: BrokerState, change: ChangeOf<'ReplicasGivenUp'>): void {
  for (const replicaId of change.replicaIds) {
    const replica = state.replicas.get(replicaId);
    invariant(replica, `replica ${replicaId} is given up, but there is none`);
    replica.status = 'aborting';
    replica.abortDisposition = 'surplus';
  }
}

/** Lets a task go on without a replica whose end its machine does not report. */
export function letReplicaGo(state: BrokerState, { replicaId, taskStatus, at }: ChangeOf<'ReplicaLetGo'>): void {
  const replica = state.replicas.get(replicaId);
  invariant(replica, `replica ${replicaId} is let go, but there is none`);
  const { job, task, machine } = replica;
  state.awaitedEnds.delete(replicaId);
  replica.isWithdrawing = false;
  replica.status = 'aborting';
  replica.abortDisposition ??= 'retried';
  task.replicas.splice(task.replicas.indexOf(replica), 1);
  const standIn = createEndedTask(task.index, 'cancelled');
  standIn.replicas.push(replica);
  replica.task = standIn;
  if (replica.member !== undefined) {
    const { gang } = replica.member;
    gang.task = standIn;
    for (const member of gang.members) member.task = standIn;
  }
  task.avoidMachineId = machine.facts.machineId;
  task.avoidSince = at;
  if (replica.abortDisposition === 'surplus') job.withSibling.add(standIn);
  setStatus(job, task, taskStatus);
}

/** Sets a success aside until its result is settled. */
export function verifyReplica(state: BrokerState, change: ChangeOf<'ReplicaVerifying'>): void {
  const { ending, at } = change;
  const replica = state.replicas.get(ending.replicaId);
  invariant(replica, `replica ${ending.replicaId} is verified, but there is none`);
  const { job, task, machine } = replica;
  const charge = getCharge(machine, replica.processors, getRunTimes(replica, ending, at));
  machine.charged += charge;
  machine.account.unsettled += charge;
  detach(state, replica, ending);
  const group = getTaskGroup(job, getGroup(job, task.index).groupIndex);
  const success: Success = {
    job,
    task,
    machineId: change.machineId,
    identity: getIdentity(machine.facts),
    digest: undefined,
    attributes: machine.facts.attributes,
    account: machine.account,
    charge,
    ending: { ...ending, standardOutput: noBytes, standardError: noBytes },
    outputSpecs: outputsOn(group, machine.facts.attributes),
  };
  (task.successes ??= []).push(success);
  state.successes.set(ending.replicaId, success);
  task.status = 'verifying';
  task.hasStarted = true;
}

/** Ends replicas as their endings say. */
export function endReplicas(state: BrokerState, change: ChangeOf<'ReplicasEnded'>): void {
  const job = getJob(state, change.jobId);
  observeTimes(state, job, change);
  for (const ending of change.endings) {
    noteEnd(state, job, ending);
    const replica = state.replicas.get(ending.replicaId);
    if (replica !== undefined) endReplica(state, replica, ending, change.at);
    else settleSuccess(state, ending);
    if (ending.disposition === 'failed') job.failureCount++;
  }
}

/** What follows the load learns how long placed tasks run. */
function noteEnd(
  { choosing: { adaptive } }: BrokerState,
  job: BrokerJob,
  { disposition, taskIndex, startedAt, endedAt }: ReplicaEnding,
): void {
  if (disposition !== 'accepted' || startedAt === 0 || !job.assigned.has(taskIndex)) return;
  adaptive?.noteEnd(findWidth(job, taskIndex), Math.max(0, endedAt - startedAt));
}

function endReplica(state: BrokerState, replica: BrokerReplica, ending: ReplicaEnding, at: Instant): void {
  const { job, task, machine } = replica;
  const charge = getCharge(machine, replica.processors, getRunTimes(replica, ending, at));
  machine.charged += charge;
  book(machine.account, job, ending.disposition, charge);
  const judge = findJudge(replica, ending);
  detach(state, replica, ending);
  if (isFollower(replica)) return;
  countOnMachine(machine, ending);
  remember(task, ending, { machineId: machine.facts.machineId, at });
  if (ending.memoryNext !== undefined && !hasEnded(task)) growMemory(job, task, ending.memoryNext);
  if (judge !== undefined && isCountedLoss(ending))
    task.unjudged = [...(task.unjudged ?? []), { requestKey: judge, at, hasRun: ending.startedAt > 0 }];
  // Of a task that has ended only the siblings of its winner are left, also where it runs again.
  if (!hasEnded(task)) setStatus(job, task, ending.taskStatus);
}

function settleSuccess(state: BrokerState, ending: ReplicaEnding): void {
  const success = state.successes.get(ending.replicaId);
  invariant(success, `replica ${ending.replicaId} ends, but there is none`);
  const { job, task, account, charge } = success;
  account.unsettled -= charge;
  book(account, job, ending.disposition, charge);
  state.successes.delete(ending.replicaId);
  task.successes = task.successes?.filter((other) => other !== success);
  if (task.successes?.length === 0) task.successes = undefined;
  if (task.accepting === success) task.accepting = undefined;
  const machine = state.machines.get(success.machineId);
  if (machine !== undefined) countOnMachine(machine, ending);
  remember(task, ending, { machineId: success.machineId, at: ending.endedAt });
  setStatus(job, task, ending.taskStatus);
}

function detach(state: BrokerState, replica: BrokerReplica, ending: ReplicaEnding): void {
  const { task, machine } = replica;
  state.replicas.delete(replica.replicaId);
  state.awaitedEnds.delete(replica.replicaId);
  machine.replicas.delete(replica.replicaId);
  machine.heldProcessors -= replica.processors;
  releaseResources(replica);
  if (replica.member !== undefined) leaveGang(state, replica, ending);
  if (isFollower(replica)) return;
  replica.job.onMachines--;
  if (ending.startedAt !== 0) task.hasStarted = true;
  if (task.replicas.length === 1 && task.replicas[0] === replica) task.replicas.pop();
  else task.replicas.splice(task.replicas.indexOf(replica), 1);
}

function countOnMachine(machine: BrokerMachine, ending: ReplicaEnding): void {
  if (ending.disposition === 'accepted') machine.finishedCount++;
  else if (ending.disposition === 'failed') machine.failedCount++;
}

/** What a task learns from a replica's end. */
function remember(
  task: OpenTask,
  ending: ReplicaEnding,
  where: { readonly machineId: string; readonly at: Instant },
): void {
  if (isStop(ending)) task.stopCount++;
  if (ending.disposition === 'lost' && ending.reason === walltimeMaxCode) task.walltimeCutCount++;
  if (ending.memoryNext !== undefined) return;
  if (ending.disposition !== 'failed' && !isCountedLoss(ending)) return;
  if (ending.disposition === 'failed') task.failureCount++;
  else task.lossCount++;
  if (isDoubted(ending)) task.doubtCount++;
  task.avoidMachineId = where.machineId;
  task.avoidSince = where.at;
}

/** Moves a task to where its status belongs; siblings of a winner become aborting. */
function setStatus(job: BrokerJob, task: OpenTask, status: TaskStatus): void {
  if (task.status === status) return;
  if (task.status === 'ready') takeReady(job, task.index);
  task.status = status;
  switch (status) {
    case 'ready':
      makeReady(job, task.index);
      break;
    case 'finished':
      finishTask(job, task);
      break;
    case 'failed':
    case 'cancelled':
      giveUpTask(job, task, status);
      break;
    default:
      break;
  }
}

function finishTask(job: BrokerJob, task: OpenTask): void {
  closeTask(job, task);
  job.finished.add(task.index);
  releaseSuccessors(job, task.index);
  for (const sibling of task.replicas) {
    sibling.status = 'aborting';
    sibling.abortDisposition ??= 'surplus';
  }
}

/** What waits for it cannot run. */
function giveUpTask(job: BrokerJob, task: OpenTask, status: 'failed' | 'cancelled'): void {
  closeTask(job, task);
  job[status].add(task.index);
  cancelDescendants(job, task.index);
}

function closeTask(job: BrokerJob, task: OpenTask): void {
  job.tasks.delete(task.index);
  unassignTask(job, task.index);
}
