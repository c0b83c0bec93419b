import type { DependencyCondition } from '../../messages/index.ts';
import { type Duration, IndexSet, type Instant, type JobId, type TaskIndex } from '../../shared/index.ts';
import type { SavedCurve, Slowness, TimeCurve } from '../../times/index.ts';
import type {
  BrokerGang,
  BrokerJob,
  BrokerMachine,
  BrokerProvider,
  BrokerReplica,
  BrokerState,
  GangMembership,
  OpenTask,
  Success,
  TaskAssignment,
  TaskQueue,
} from './state.ts';
import { getGroup, getTaskGroup } from './jobs/task-groups.ts';

/** The version of the format that `snapshot` writes. */
export const snapshotVersion = 1;

/**
 * All promised state as JSON. State of the moment is left out, and so is the spec of a job whose tasks have all
 * finished, which is in the journal's `JobAccepted`.
 *
 * Cost: the open jobs and tasks, plus a few numbers per job that has ended.
 */
export function snapshot(state: BrokerState): string {
  return JSON.stringify(saveState(state));
}

/** The parts of a snapshot, as they go into JSON; what earlier releases did not write may be absent. */
export type SavedState = WithNewer<
  ReturnType<typeof saveState>,
  'records' | 'drainedMachines' | 'overReservations' | 'movedReservations' | 'gangs'
> & { readonly jobs: readonly SavedJob[]; readonly successes: readonly SavedSuccess[] };
/** A provider in a snapshot. */
export type SavedProvider = ReturnType<typeof saveProvider>;
/** A job in a snapshot. */
export type SavedJob = WithNewer<
  ReturnType<typeof saveJob>,
  'supports' | 'doubtful' | 'extraVoteCount' | 'isGang' | 'lastGangId' | 'assigned'
>;
/** A machine in a snapshot. */
export type SavedMachine = ReturnType<typeof saveMachine>;
/** A replica in a snapshot. */
export type SavedReplica = ReturnType<typeof saveReplica>;
/** A gang in a snapshot. */
export type SavedGang = ReturnType<typeof saveGang>;
/** An unsettled success in a snapshot. */
export type SavedSuccess = WithNewer<ReturnType<typeof saveSuccess>, 'identity'>;

type WithNewer<Saved, Newer extends keyof Saved> = Omit<Saved, Newer> & Partial<Pick<Saved, Newer>>;

function saveState(state: BrokerState) {
  return {
    version: snapshotVersion,
    nextJobId: state.nextJobId,
    nextReplicaId: state.nextReplicaId,
    providers: [...state.providers.values()].map(saveProvider),
    requests: [...state.requests.values()],
    overReservations: [...state.overReservations],
    movedReservations: [...state.movedReservations],
    accounts: [...state.accounts.values()],
    machines: [...state.machines.values()].map(saveMachine),
    jobs: [...state.jobs.values()].map(saveJob),
    openJobIds: [...state.openJobs.keys()],
    replicas: [...state.replicas.values()].map(saveReplica),
    gangs: [...state.gangs.values()].map(saveGang),
    successes: [...state.successes.values()].map(saveSuccess),
    records: [...state.records.values()],
    ...(state.drainedMachines.size === 0 ? {} : { drainedMachines: [...state.drainedMachines.values()] }),
  };
}

function saveProvider({ providerId, address, pattern, leases, confirmedLease }: BrokerProvider) {
  if (leases.length === 0) return { providerId, address, pattern };
  const saved = leases.map(({ sequence, horizon, parts, adopted }) => ({
    sequence,
    horizon,
    parts,
    adopted: [...adopted],
  }));
  return { providerId, address, pattern, leases: saved, confirmedLease };
}

function saveMachine(machine: BrokerMachine) {
  const { facts, joinedAt, charged, finishedCount, failedCount } = machine;
  return {
    providerId: machine.provider.providerId,
    facts,
    joinedAt,
    charged,
    finishedCount,
    failedCount,
    ...savePace(machine),
  };
}

/** Left out by releases that did not keep it. */
function savePace({ times, slowness }: BrokerMachine): { times?: SavedCurve; slowness?: Slowness } {
  return { times: times.save(), slowness };
}

function saveJob(job: BrokerJob) {
  const {
    jobId,
    userId,
    clientJobId,
    label,
    submittedAt,
    taskCount,
    processors,
    isGang,
    lastGangId,
    replicasMax,
    failuresMax,
    deadline,
    verification,
    spec,
  } = job;
  const {
    status,
    cancelReason,
    endedAt,
    replicaCount,
    failureCount,
    extraVoteCount,
    scheduler,
    replicationCap,
    reservation,
    reservationOver,
  } = job;
  return {
    jobId,
    userId,
    clientJobId,
    label,
    submittedAt,
    taskCount,
    ...saveAppends(job),
    processors,
    ...(isGang ? { isGang, lastGangId } : {}),
    replicasMax,
    failuresMax,
    deadline,
    scheduler,
    replicationCap,
    verification,
    reservation,
    reservationOver,
    spec,
    ...(job.revisedInputs.length === 0 ? {} : { revisedInputs: job.revisedInputs }),
    status,
    cancelReason,
    endedAt,
    replicaCount,
    failureCount,
    extraVoteCount,
    times: saveTimes(job.times),
    ...(job.chosenMemory === undefined ? {} : { chosenMemory: job.chosenMemory }),
    ...(job.memoryPeaks.end === 0 ? {} : { memoryPeaks: job.memoryPeaks.save() }),
    doubtful: saveSet(job.doubtful),
    supports: [...job.supports].map(([identity, support]) => ({ identity, tasks: saveSet(support) })),
    finished: saveSet(job.finished),
    failed: saveSet(job.failed),
    cancelled: saveSet(job.cancelled),
    ...saveService(job),
    ...saveGates(job),
    ready: job.queues.filter(isOfGroup).map((queue) => saveSet(getReady(job, queue))),
    ...(job.assigned.size === 0 ? {} : { assigned: [...job.assigned].map(saveAssignment) }),
    ...(job.dependencies === undefined ? {} : { waiting: saveSet(job.dependencies.waiting) }),
    tasks: [...job.tasks.values()].map(saveTask),
    shares: [...job.shares].map(([account, share]) => ({ key: account.key, ...share })),
  };
}

/** Left out of a job that never was open, or has ended. */
function saveAppends({ takesTasks, appends }: BrokerJob): { takesTasks?: true; appends?: [string, number, number][] } {
  const saved = [...appends].map(([key, { firstTaskIndex, taskCount }]): [string, number, number] => [
    key,
    firstTaskIndex,
    taskCount,
  ]);
  return { ...(takesTasks ? { takesTasks } : {}), ...(saved.length === 0 ? {} : { appends: saved }) };
}

/** The user's settings for when it runs; left out if there are none. */
function saveService({ priority, runningMax, isHeld, held, parked }: BrokerJob): {
  priority?: number;
  runningMax?: number;
  isHeld?: boolean;
  held?: number[][];
  parked?: number[][];
} {
  return {
    ...(priority === 0 ? {} : { priority }),
    ...(runningMax === undefined ? {} : { runningMax }),
    ...(isHeld ? { isHeld } : {}),
    ...(held.size === 0 ? {} : { held: saveSet(held) }),
    ...(parked.size === 0 ? {} : { parked: saveSet(parked) }),
  };
}

/** What it waits for; left out where it waits for nothing. */
function saveGates({ awaited, beginAt, expireAt }: BrokerJob): {
  awaited?: { jobId: JobId; condition: DependencyCondition; waiting: number[][] }[];
  beginAt?: Instant;
  expireAt?: Instant;
} {
  const saved = awaited.map(({ jobId, condition, waiting }) => ({ jobId, condition, waiting: saveSet(waiting) }));
  return {
    ...(saved.length === 0 ? {} : { awaited: saved }),
    ...(beginAt === undefined ? {} : { beginAt }),
    ...(expireAt === undefined ? {} : { expireAt }),
  };
}

/** With the sums that releases before the curve kept, so that one that is gone back to reads them. */
function saveTimes(times: TimeCurve): { count: number; sum: Duration; longest: Duration; curve?: SavedCurve } {
  const { count, sum, longest } = times;
  return { count, sum, longest, curve: times.save() };
}

function isOfGroup({ source, grownFrom }: TaskQueue): boolean {
  return source === undefined && grownFrom === undefined;
}

/** Those that are placed, and those that ask for more memory by now, are among them. */
function getReady({ queues }: BrokerJob, queue: TaskQueue): IndexSet {
  const ready = IndexSet.fromRanges(queue.ready.ranges());
  for (const part of queues)
    if (part.grownFrom === queue || part.source === queue || part.source?.grownFrom === queue) ready.addAll(part.ready);
  return ready;
}

function saveAssignment([
  taskIndex,
  {
    provider: { providerId },
    at,
    startsBy,
    reason,
  },
]: readonly [TaskIndex, TaskAssignment]) {
  return { taskIndex, providerId, at, reason, ...(startsBy === undefined ? {} : { startsBy }) };
}

function saveSet(set: IndexSet): number[][] {
  return [...set.ranges()].map(({ first, count }) => [first, count]);
}

function saveTask({
  index,
  status,
  isCancelled,
  hasStarted,
  failureCount,
  grown,
  lossCount,
  doubtCount,
  stopCount,
  walltimeCutCount,
  unjudged,
  avoidMachineId,
  avoidSince,
}: OpenTask) {
  return {
    index,
    status,
    ...(isCancelled === undefined ? {} : { isCancelled }),
    ...(hasStarted === undefined ? {} : { hasStarted }),
    failureCount,
    ...(grown === undefined ? {} : { grown }),
    lossCount,
    ...(doubtCount === 0 ? {} : { doubtCount }),
    ...(stopCount === 0 ? {} : { stopCount }),
    ...(walltimeCutCount === 0 ? {} : { walltimeCutCount }),
    ...(unjudged === undefined ? {} : { unjudged }),
    avoidMachineId,
    avoidSince,
  };
}

function saveReplica(replica: BrokerReplica) {
  const {
    replicaId,
    job,
    task,
    machine,
    processors,
    resources,
    alternative,
    assignment,
    member,
    dispatchedAt,
    startedAt,
    status,
    abortDisposition,
    isAdopted,
  } = replica;
  const { jobId } = job;
  const { machineId } = machine.facts;
  return {
    replicaId,
    jobId,
    taskIndex: task.index,
    taskStatus: task.status,
    machineId,
    dispatchedAt,
    startedAt,
    status,
    abortDisposition,
    ...(isAdopted ? { isAdopted } : {}),
    ...(processors === job.processors ? {} : { processors }),
    ...(member === undefined ? {} : { processors, member: saveMember(member) }),
    ...(resources === undefined ? {} : { resources, assignment }),
    ...(alternative === 0 ? {} : { alternative }),
  };
}

function saveMember({ gang: { gangId }, rank, held }: GangMembership) {
  return { gangId, rank, held };
}

function saveGang({ gangId, job: { jobId }, task, heldCount, status, dispatchedAt, brokenBy }: BrokerGang) {
  return { gangId, jobId, taskIndex: task.index, taskStatus: task.status, heldCount, status, dispatchedAt, brokenBy };
}

function saveSuccess(success: Success) {
  const {
    job: { jobId },
    task,
    machineId,
    identity,
    digest,
    attributes,
    ending,
    outputSpecs,
    account,
    charge,
  } = success;
  const { standardOutput: _output, standardError: _error, ...kept } = ending;
  const { outputs } = getTaskGroup(success.job, getGroup(success.job, task.index).groupIndex);
  const outputIndexes = outputSpecs.map((spec) => outputs.indexOf(spec));
  return {
    jobId,
    taskIndex: task.index,
    machineId,
    identity,
    digest,
    attributes,
    ending: kept,
    outputIndexes,
    accountKey: account.key,
    charge,
  };
}
