import { schedulerNames } from '../../messages/index.ts';
import { readSavedReason, readSavedReasons } from '../../reasons/index.ts';
import { type IndexRange, IndexSet, invariant, type TaskIndex } from '../../shared/index.ts';
import { TimeCurve, unknownSlowness } from '../../times/index.ts';
import { countUnmet } from './apply/apply-dependencies.ts';
import { getJob, noGangsYet } from './apply/apply-job.ts';
import { addProvider, changeRequests, getMachine, getProvider, joinMachine } from './apply/apply-machine.ts';
import { isFollower } from './gangs/gang.ts';
import { recountResources } from './machines/machine-resources.ts';
import { openAccount } from './ledger/ledger-accounts.ts';
import { layOutDependencies } from './workflow/lay-out-dependencies.ts';
import { openLease } from './leases/leases.ts';
import type { BrokerOptions } from './options.ts';
import {
  type SavedGang,
  type SavedJob,
  type SavedMachine,
  type SavedProvider,
  type SavedReplica,
  type SavedState,
  type SavedSuccess,
  snapshotVersion,
} from './snapshot.ts';
import {
  type BrokerJob,
  type BrokerReplica,
  type BrokerState,
  clientKey,
  createBrokerState,
  type FirstEnd,
  type Gates,
  type GangMembership,
  createEndedTask,
  hasEnded,
  type LedgerAccount,
  type OpenTask,
  type OverReservation,
  schedulingDefaults,
} from './state.ts';
import { siteSelectionOfJob } from './site-selection/read-site-selection.ts';
import { assignTask } from './site-selection/assigned-tasks.ts';
import { noteGates } from './jobs/gates.ts';
import { openGrownQueue } from './jobs/grow-memory.ts';
import { findResources, getGroup, getTaskGroup, layOutGroups } from './jobs/task-groups.ts';

const noBytes = new Uint8Array(0);

/**
 * The state that `snapshot` wrote down, to which later changes are then applied. @throws {InvariantError} for another
 * version.
 */
export function restore(body: string, options: Partial<BrokerOptions> = {}): BrokerState {
  const saved = JSON.parse(body) as SavedState;
  invariant(saved.version === snapshotVersion, `snapshot of version ${saved.version}; expected ${snapshotVersion}`);
  const state = createBrokerState(options);
  for (const provider of saved.providers) restoreProvider(state, provider);
  for (const account of saved.accounts)
    Object.assign(openAccount(state, account.providerId, account.requestId), account);
  for (const request of saved.requests)
    changeRequests(state, {
      kind: 'RequestsChanged',
      providerId: request.providerId,
      requests: [{ ...request, reasons: readSavedReasons(request.reasons) }],
    });
  restoreReservations(state, saved);
  for (const machine of saved.machines) restoreMachine(state, machine);
  for (const job of saved.jobs) restoreJob(state, job);
  for (const jobId of saved.openJobIds) {
    const job = getJob(state, jobId);
    state.openJobs.set(jobId, job);
    noteGates(state, job);
  }
  restoreReplicas(state, saved);
  for (const success of saved.successes) restoreSuccess(state, success);
  restoreRecords(state, saved);
  state.nextJobId = saved.nextJobId;
  state.nextReplicaId = saved.nextReplicaId;
  return state;
}

/** Earlier snapshots have no gangs. */
function restoreReplicas(state: BrokerState, { gangs = [], replicas }: SavedState): void {
  for (const gang of gangs) restoreGang(state, gang);
  for (const replica of replicas) restoreReplica(state, replica);
  for (const machine of state.machines.values()) recountResources(machine);
}

/** In their order, and also those of requests that say nothing of it any more; earlier snapshots have none. */
function restoreReservations({ overReservations, movedReservations }: BrokerState, saved: SavedState): void {
  if (saved.movedReservations !== undefined) movedReservations.clear();
  for (const [key, window] of saved.movedReservations ?? []) movedReservations.set(key, window);
  if (saved.overReservations === undefined) return;
  overReservations.clear();
  for (const [key, over] of saved.overReservations) overReservations.set(key, readSavedOver(over));
}

/** Early snapshots hold a sentence. */
function readSavedOver<Over extends OverReservation>(over: Over): Over {
  return { ...over, reason: readSavedReason(over.reason) };
}

function restoreRecords(state: BrokerState, { records = [], drainedMachines = [] }: SavedState): void {
  for (const drain of drainedMachines) state.drainedMachines.set(drain.identity, drain);
  for (const record of records) state.records.set(record.identity, record);
}

/** Releases that did not keep the pattern left it out. */
function restoreProvider(
  state: BrokerState,
  { providerId, address, pattern, isRemoved = false, leases = [], confirmedLease = 0 }: SavedProvider,
): void {
  addProvider(state, { kind: 'ProviderAdded', providerId, address });
  const provider = getProvider(state, providerId);
  provider.pattern = pattern;
  provider.isRemoved = isRemoved;
  provider.confirmedLease = confirmedLease;
  for (const { adopted, ...saved } of leases) {
    const lease = openLease(saved);
    for (const replicaId of adopted) lease.adopted.add(replicaId);
    provider.leases.push(lease);
  }
}

function restoreMachine(state: BrokerState, saved: SavedMachine): void {
  const { providerId, facts, joinedAt, charged, finishedCount, failedCount, times, slowness } = saved;
  joinMachine(state, { kind: 'MachineJoined', providerId, facts: { ...facts, until: facts.until }, at: joinedAt });
  const pace = {
    times: times === undefined ? new TimeCurve() : TimeCurve.restore(times),
    slowness: slowness ?? unknownSlowness,
  };
  Object.assign(getMachine(state, facts.machineId), { charged, finishedCount, failedCount, ...pace });
}

function restorePeaks({ memoryPeaks }: SavedJob): TimeCurve {
  return memoryPeaks === undefined ? new TimeCurve() : TimeCurve.restore(memoryPeaks);
}

function restoreJob(state: BrokerState, saved: SavedJob): void {
  const {
    finished,
    failed,
    cancelled,
    ready,
    waiting = [],
    tasks,
    shares,
    assigned,
    memoryPeaks: _memoryPeaks,
    appends: _appends,
    supports: _supports,
    held: _held,
    parked: _parked,
    awaited: _awaited,
    doubtful: _doubtful,
    ...kept
  } = saved;
  const job: BrokerJob = {
    ...kept,
    ...restoreAppends(saved),
    ...getScheduling(saved),
    ...restoreVotes(saved),
    deadline: saved.deadline,
    ...restoreService(saved),
    ...restoreGates(saved),
    ...getGangs(saved),
    verification: saved.verification,
    reservation: saved.reservation,
    reservationOver: saved.reservationOver && readSavedOver(saved.reservationOver),
    spec: saved.spec,
    revisedInputs: saved.revisedInputs ?? [],
    groups: [],
    queues: [],
    queuesByKind: new Map(),
    siteSelection: siteSelectionOfJob(saved.spec),
    assigned: new Map(),
    dependencies: undefined,
    tasks: new Map(),
    shares: new Map(),
    withSibling: new Set(),
    memoryPeaks: restorePeaks(saved),
    chosenMemory: saved.chosenMemory,
    times: saved.times.curve === undefined ? TimeCurve.fromSums(saved.times) : TimeCurve.restore(saved.times.curve),
    finished: restoreSet(finished),
    failed: restoreSet(failed),
    cancelled: restoreSet(cancelled),
  };
  invariant(schedulerNames.includes(job.scheduler), `there is no scheduler ${job.scheduler}`);
  if (job.spec !== undefined) layOutGroups(job, job.spec);
  restoreReady(job, ready);
  for (const task of tasks)
    job.tasks.set(task.index, {
      doubtCount: 0,
      stopCount: 0,
      walltimeCutCount: 0,
      ...task,
      replicas: [],
      successes: undefined,
      accepting: undefined,
    });
  for (const task of job.tasks.values()) regrow(job, task);
  restoreDependencies(job, waiting);
  restoreAssignments(state, job, assigned);
  for (const { key, used, losers, killed } of shares) job.shares.set(getAccount(state, key), { used, losers, killed });
  state.jobs.set(job.jobId, job);
  if (job.clientJobId !== '') state.jobsByClientId.set(clientKey(job.userId, job.clientJobId), job);
}

/** Left out of jobs that were never open, and that have ended. */
function restoreAppends({ takesTasks, appends = [] }: SavedJob): Pick<BrokerJob, 'takesTasks' | 'appends'> {
  return {
    takesTasks: takesTasks === true,
    appends: new Map(appends.map(([key, firstTaskIndex, taskCount]) => [key, { firstTaskIndex, taskCount }])),
  };
}

/** When its user says nothing of it, nothing is written down. */
function restoreService({
  priority = 0,
  runningMax,
  isHeld = false,
  held = [],
  parked = [],
}: SavedJob): Pick<BrokerJob, 'priority' | 'runningMax' | 'onMachines' | 'isHeld' | 'held' | 'parked'> {
  return { priority, runningMax, onMachines: 0, isHeld, held: restoreSet(held), parked: restoreSet(parked) };
}

/** Left out of jobs that wait for nothing. */
function restoreGates({ awaited = [], beginAt, expireAt }: SavedJob): Gates {
  return {
    awaited: awaited.map(({ waiting, ...one }) => ({ ...one, waiting: restoreSet(waiting) })),
    beginAt,
    expireAt,
  };
}

/** By queue, the tasks that are ready. */
function restoreReady(job: BrokerJob, ready: SavedJob['ready']): void {
  for (const [index, queue] of job.queues.entries()) {
    for (const range of toRanges(ready[index] ?? [])) queue.ready.addRange(range.first, range.count);
  }
}

/** A task that asks for more memory by now is written down as one of its group's queue. */
function regrow(job: BrokerJob, { index, grown }: OpenTask): void {
  if (grown === undefined || job.groups.length === 0) return;
  const wasReady = getGroup(job, index).queue.ready.delete(index);
  const queue = openGrownQueue(job, index, grown.memory);
  if (wasReady) queue.ready.add(index);
}

/** Earlier releases placed nothing. */
function restoreAssignments(state: BrokerState, job: BrokerJob, assigned: SavedJob['assigned'] = []): void {
  for (const { at, ...assignment } of assigned)
    assignTask(job, assignment, getProvider(state, assignment.providerId), at);
}

/** The predecessors that a task waits for follow from the spec and the finished tasks. */
function restoreDependencies(job: BrokerJob, waiting: readonly (readonly number[])[]): void {
  if (job.spec === undefined) return;
  job.dependencies = layOutDependencies(job.spec);
  countUnmet(job);
  job.dependencies?.waiting.addAll(restoreSet(waiting));
}

function getGangs({ isGang, lastGangId = 0 }: SavedJob): Pick<BrokerJob, 'isGang' | keyof typeof noGangsYet> {
  return { isGang: isGang === true, ...noGangsYet, lastGangId };
}

/** An earlier release wrote none of it down. */
function getScheduling({ scheduler, replicationCap }: Partial<SavedJob>): typeof schedulingDefaults {
  return {
    scheduler: scheduler ?? schedulingDefaults.scheduler,
    replicationCap: replicationCap ?? schedulingDefaults.replicationCap,
  };
}

/** What an earlier release knew nothing of begins empty. */
function restoreVotes({
  supports = [],
  doubtful = [],
  extraVoteCount = 0,
}: SavedJob): Pick<BrokerJob, 'supports' | 'doubtful' | 'extraVoteCount'> {
  return {
    supports: new Map(supports.map(({ identity, tasks }) => [identity, restoreSet(tasks)])),
    doubtful: restoreSet(doubtful),
    extraVoteCount,
  };
}

function restoreSet(ranges: readonly (readonly number[])[]): IndexSet {
  return IndexSet.fromRanges(toRanges(ranges));
}

function toRanges(ranges: readonly (readonly number[])[]): IndexRange[] {
  return ranges.map(([first = 0, count = 0]) => ({ first, count }));
}

function getAccount(state: BrokerState, key: string): LedgerAccount {
  const account = state.accounts.get(key);
  invariant(account, `there is no account ${key}`);
  return account;
}

/** What a replica asked for; one that holds processors alone was written down without it. */
function restoreRequest(
  job: BrokerJob,
  { taskIndex, resources, alternative = 0 }: SavedReplica,
): Pick<BrokerReplica, 'resources' | 'alternative'> {
  const asked = job.groups.length === 0 ? undefined : findResources(job, taskIndex, alternative);
  return { resources: resources ?? asked, alternative };
}

function restoreReplica(state: BrokerState, saved: SavedReplica): void {
  const { replicaId, jobId, taskIndex, machineId, dispatchedAt, startedAt, status } = saved;
  const job = getJob(state, jobId);
  const machine = getMachine(state, machineId);
  // What still runs for a task that was doubted or retried since has nothing to do with its second life.
  const member = saved.member === undefined ? undefined : restoreMember(state, saved.member);
  const task =
    member?.gang.task ??
    (hasEnded({ status: saved.taskStatus }) ? createEndedTask(taskIndex, saved.taskStatus) : getTask(job, taskIndex));
  const replica: BrokerReplica = {
    replicaId,
    job,
    task,
    machine,
    processors: saved.processors ?? job.processors,
    ...restoreRequest(job, saved),
    assignment: saved.assignment,
    member,
    dispatchedAt,
    startedAt,
    status,
    abortDisposition: saved.abortDisposition,
    isAdopted: saved.isAdopted === true,
    isWithdrawing: false,
    isEnding: false,
  };
  member?.gang.members.push(replica);
  if (!isFollower(replica)) {
    job.onMachines++;
    task.replicas.push(replica);
    noteSiblings(job, task);
  }
  machine.replicas.set(replicaId, replica);
  machine.heldProcessors += replica.processors;
  state.replicas.set(replicaId, replica);
}

/** Its members come after it, in the order of their ranks. */
function restoreGang(state: BrokerState, saved: SavedGang): void {
  const { gangId, jobId, taskIndex, taskStatus, heldCount, status, dispatchedAt, brokenBy } = saved;
  const job = getJob(state, jobId);
  const open = hasEnded({ status: taskStatus }) ? undefined : job.tasks.get(taskIndex);
  state.gangs.set(gangId, {
    gangId,
    job,
    task: open ?? createEndedTask(taskIndex, taskStatus),
    members: [],
    heldCount,
    status,
    dispatchedAt,
    brokenBy: restoreFirstEnd(brokenBy),
  });
}

/** JSON leaves out what is undefined. */
function restoreFirstEnd(saved: FirstEnd | undefined): FirstEnd | undefined {
  return saved === undefined ? undefined : { ...saved, outcome: saved.outcome };
}

function restoreMember(
  { gangs }: BrokerState,
  { gangId, rank, held }: NonNullable<SavedReplica['member']>,
): GangMembership {
  const gang = gangs.get(gangId);
  invariant(gang, `a member of gang ${gangId}, which is not there`);
  return { gang, rank, held };
}

function noteSiblings({ withSibling }: BrokerJob, task: OpenTask): void {
  const { replicas, successes = [] } = task;
  if (replicas.length + successes.length > 1 || replicas.some(({ abortDisposition }) => abortDisposition === 'surplus'))
    withSibling.add(task);
}

function getTask(job: BrokerJob, index: TaskIndex): OpenTask {
  const task = job.tasks.get(index);
  invariant(task, `a replica of task ${index} of job ${job.jobId}, which is not open`);
  return task;
}

function restoreSuccess(state: BrokerState, saved: SavedSuccess): void {
  const { jobId, taskIndex, machineId, attributes, accountKey, charge, outputIndexes } = saved;
  const job = getJob(state, jobId);
  const task = job.tasks.get(taskIndex);
  invariant(task, `success of task ${taskIndex} of job ${jobId}, which is not open`);
  const { outputs } = getTaskGroup(job, getGroup(job, taskIndex).groupIndex);
  const success = {
    job,
    task,
    machineId,
    identity: saved.identity ?? machineId,
    digest: saved.digest,
    attributes,
    account: getAccount(state, accountKey),
    charge,
    ending: { ...saved.ending, outcome: saved.ending.outcome, standardOutput: noBytes, standardError: noBytes },
    outputSpecs: outputs.filter((_output, index) => outputIndexes.includes(index)),
  };
  (task.successes ??= []).push(success);
  noteSiblings(job, task);
  state.successes.set(success.ending.replicaId, success);
}
