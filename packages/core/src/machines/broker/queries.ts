import type { Cause } from '../../reasons/index.ts';
import type {
  AllocationRequest,
  DrainingStatus,
  JobDependency,
  JobStatus,
  MachineFacts,
  TaskStatus,
} from '../../messages/index.ts';
import type {
  IndexSet,
  Instant,
  JobId,
  MachineId,
  ProviderId,
  ReplicaId,
  TaskIndex,
  UserId,
} from '../../shared/index.ts';
import { listPredecessors } from './workflow/dependencies.ts';
import { countReady } from './jobs/ready-tasks.ts';
import { findUserJob } from './jobs/find-job.ts';
import { runsBeside, getWindow } from './reservations/reserved-place.ts';
import { countReplicasAt, findDrain, isDraining, listUsedProviders } from './machines/takes-work.ts';
import { type BrokerJob, type BrokerMachine, type BrokerState, isHere } from './state.ts';
import type { TrustRecord } from './trust/trust-evidence.ts';
import { getCredibility, getIdentity, isQuarantined } from './trust/trust-records.ts';

/** The status of a job. The counts of tasks add up to `taskCount`. */
export interface JobSummary {
  readonly jobId: JobId;
  readonly userId: UserId;
  readonly label: string;
  readonly status: JobStatus;
  readonly submittedAt: Instant;
  /** 0 while a task is open. */
  readonly endedAt: Instant;
  readonly taskCount: number;
  /** Those that wait for others, and those that are held. */
  readonly waitingCount: number;
  /** Of those, the ones that would be ready. */
  readonly heldCount: number;
  readonly priority: number;
  /** Left out where its user sets no limit. */
  readonly runningMax?: number;
  readonly readyCount: number;
  /** At a machine, where they have not begun: inputs are brought, or processors are taken. */
  readonly dispatchedCount: number;
  /** Running or verifying. */
  readonly runningCount: number;
  readonly finishedCount: number;
  readonly failedCount: number;
  readonly cancelledCount: number;
  readonly replicaCount: number;
  readonly cancelReason: Cause;
  /** Results beyond the first of each task that votes took. */
  readonly extraVoteCount: number;
  /** Finished tasks that rest on a machine which was caught when the job was over, and the first of them. */
  readonly doubtfulCount: number;
  readonly doubtfulTaskIndexes: readonly TaskIndex[];
  /**
   * What its ready tasks wait for while none of its tasks is at a machine; left out where that is not a reservation.
   */
  readonly reservationAwaited?: ReservationAwaited;
  /** It takes more tasks; left out otherwise. */
  readonly isOpen?: true;
  /** Jobs that it waits for still; left out where there are none. */
  readonly awaited?: readonly JobDependency[];
  /** When it begins, and when it expires; left out once that has come. */
  readonly beginAt?: Instant;
  readonly expireAt?: Instant;
}

/** A reservation that the tasks of a job wait for. */
export interface ReservationAwaited {
  readonly reservationId: number;
  readonly resourceId: string;
  /** When it begins or began; undefined when it is over and the tasks wait until the job is retried or cancelled. */
  readonly startsAt: Instant | undefined;
}

/** The status of a job of this user; undefined if the user has none of that number. */
export function findJobSummary(state: BrokerState, userId: UserId, jobId: JobId): JobSummary | undefined {
  const job = findUserJob(state, userId, jobId);
  return job === undefined ? undefined : summarise(state, job);
}

/** The user's jobs below `beforeJobId` (0: all), the newest first, at most `sizeMax` of them. */
export function listJobSummaries(
  state: BrokerState,
  userId: UserId,
  page: { readonly beforeJobId: JobId; readonly sizeMax: number },
): JobSummary[] {
  const summaries: JobSummary[] = [];
  const newest = page.beforeJobId === 0 ? state.nextJobId : page.beforeJobId;
  for (let jobId = Math.min(newest, state.nextJobId) - 1; jobId > 0 && summaries.length < page.sizeMax; jobId--) {
    const summary = findJobSummary(state, userId, jobId);
    if (summary !== undefined) summaries.push(summary);
  }
  return summaries;
}

function summarise(state: BrokerState, job: BrokerJob): JobSummary {
  const { jobId, userId, label, status, submittedAt, endedAt, taskCount, replicaCount, cancelReason } = job;
  const heldCount = countHeld(job);
  const waitingCount = (job.dependencies?.waiting.size ?? 0) + job.parked.size;
  const readyCount = countReady(job);
  const finishedCount = isAllFinished(job) ? taskCount : job.finished.size;
  const [failedCount, cancelledCount] = [job.failed.size, job.cancelled.size];
  const dispatchedCount = countDispatched(job);
  const runningCount =
    taskCount - waitingCount - readyCount - dispatchedCount - finishedCount - failedCount - cancelledCount;
  return {
    jobId,
    userId,
    label,
    status,
    submittedAt,
    endedAt,
    taskCount,
    ...(job.takesTasks ? { isOpen: true } : {}),
    waitingCount,
    heldCount,
    priority: job.priority,
    ...(job.runningMax === undefined ? {} : { runningMax: job.runningMax }),
    readyCount,
    dispatchedCount,
    runningCount,
    finishedCount,
    failedCount,
    cancelledCount,
    replicaCount,
    cancelReason,
    extraVoteCount: job.extraVoteCount,
    doubtfulCount: job.doubtful.size,
    doubtfulTaskIndexes: firstOf(job.doubtful, doubtfulShownMax),
    ...(readyCount > 0 && runningCount === 0 && dispatchedCount === 0 ? findAwaited(state, job) : {}),
    ...summariseGates(job),
  };
}

function summariseGates({
  awaited,
  beginAt,
  expireAt,
}: BrokerJob): Pick<JobSummary, 'awaited' | 'beginAt' | 'expireAt'> {
  return {
    ...(awaited.length === 0 ? {} : { awaited: awaited.map(({ jobId, condition }) => ({ jobId, condition })) }),
    ...(beginAt === undefined ? {} : { beginAt }),
    ...(expireAt === undefined ? {} : { expireAt }),
  };
}

/** Tasks that wait for nothing but their release. */
export function countHeld({ parked, held, awaited, beginAt }: BrokerJob): number {
  if (awaited.length === 0 && beginAt === undefined) return parked.size;
  if (held.size === 0) return 0;
  let count = 0;
  for (const index of parked.values()) if (held.has(index)) count++;
  return count;
}

function findAwaited(state: BrokerState, job: BrokerJob): Pick<JobSummary, 'reservationAwaited'> {
  const { reservation, reservationOver } = job;
  if (reservation === undefined || job.status !== 'running' || runsBeside(job)) return {};
  const { reservationId, resourceId } = reservation;
  return {
    reservationAwaited: {
      reservationId,
      resourceId,
      startsAt: reservationOver === undefined ? getWindow(state, reservation).startsAt : undefined,
    },
  };
}

/** Tasks with replicas that have all not begun. Cost: the open tasks of the job. */
function countDispatched(job: BrokerJob): number {
  let count = 0;
  for (const { status, replicas } of job.tasks.values()) {
    if (status === 'running' && replicas.every((replica) => replica.startedAt === 0)) count++;
  }
  return count;
}

/** Doubtful tasks that a summary names. */
const doubtfulShownMax = 100;

function firstOf(set: IndexSet, countMax: number): TaskIndex[] {
  const found: TaskIndex[] = [];
  for (let index = set.findFrom(0); index !== undefined && found.length < countMax; index = set.findFrom(index + 1))
    found.push(index);
  return found;
}

/** Whether a job has ended with every task finished, so that it keeps no sets. */
export function isAllFinished(job: BrokerJob): boolean {
  return job.status === 'finished' && job.endedAt !== 0;
}

/** What a task is now. Its replicas' records are the process's. */
export interface TaskSummary {
  readonly taskIndex: TaskIndex;
  readonly status: TaskStatus;
  /** Failures so far of an open task; 0 for one that has ended, see its records. */
  readonly failureCount: number;
  /** The first of those that it waits for and that have not finished. */
  readonly waitsFor: readonly TaskIndex[];
  /** On machines now or being verified, the eldest first; of a gang all its members. */
  readonly replicas: readonly OpenReplica[];
}

/** A replica that has not ended. */
export interface OpenReplica {
  readonly replicaId: ReplicaId;
  readonly machineId: MachineId;
  readonly dispatchedAt: Instant;
  /** 0 until its machine reports it. */
  readonly startedAt: Instant;
  readonly isVerifying: boolean;
}

/** What task `taskIndex` of a job is; undefined when the job has none of that index. */
export function findTaskSummary(job: BrokerJob, taskIndex: TaskIndex): TaskSummary | undefined {
  if (!Number.isInteger(taskIndex) || taskIndex < 0 || taskIndex >= job.taskCount) return undefined;
  const task = job.tasks.get(taskIndex);
  if (task === undefined)
    return {
      taskIndex,
      status: closedStatus(job, taskIndex),
      failureCount: 0,
      waitsFor: listUnmet(job, taskIndex),
      replicas: [],
    };
  const verifying = (task.successes ?? []).map(({ ending, machineId }) => ({
    replicaId: ending.replicaId,
    machineId,
    dispatchedAt: ending.dispatchedAt,
    startedAt: ending.startedAt,
    isVerifying: true,
  }));
  const running = task.replicas
    .flatMap((replica) => replica.member?.gang.members ?? [replica])
    .map(({ replicaId, machine, dispatchedAt, startedAt }) => ({
      replicaId,
      machineId: machine.facts.machineId,
      dispatchedAt,
      startedAt,
      isVerifying: false,
    }));
  return {
    taskIndex,
    status: job.parked.has(taskIndex) ? 'waiting' : task.status,
    failureCount: task.failureCount,
    waitsFor: [],
    replicas: [...verifying, ...running],
  };
}

/** Tasks that a task is said to wait for. */
const waitsForShownMax = 10;

function listUnmet({ dependencies, finished }: BrokerJob, index: TaskIndex): TaskIndex[] {
  if (dependencies === undefined || dependencies.unmet[index] === 0) return [];
  return listPredecessors(dependencies, index)
    .filter((before) => !finished.has(before))
    .slice(0, waitsForShownMax);
}

function closedStatus(job: BrokerJob, index: TaskIndex): TaskStatus {
  if (isAllFinished(job) || job.finished.has(index)) return 'finished';
  if (job.failed.has(index)) return 'failed';
  if (job.parked.has(index) || job.dependencies?.waiting.has(index) === true) return 'waiting';
  return job.cancelled.has(index) ? 'cancelled' : 'ready';
}

/**
 * The indexes of a job's tasks from `from` on, with that status where one is given, `sizeMax` at most, ascending.
 *
 * Cost: the answer, where ended tasks are asked for or no status; otherwise the job's open tasks too.
 */
export function listTaskIndexes(
  job: BrokerJob,
  wanted: { readonly status: TaskStatus | undefined; readonly from: TaskIndex; readonly sizeMax: number },
): TaskIndex[] {
  const { status, from, sizeMax } = wanted;
  const next = findFinder(job, status);
  const indexes: TaskIndex[] = [];
  for (
    let index = next(from);
    index !== undefined && index < job.taskCount && indexes.length < sizeMax;
    index = next(index + 1)
  ) {
    indexes.push(index);
  }
  return indexes;
}

/** A function that finds the least index from a given one on whose task has the status. */
function findFinder(job: BrokerJob, status: TaskStatus | undefined): (from: TaskIndex) => TaskIndex | undefined {
  if (status === undefined || (status === 'finished' && isAllFinished(job))) return (from) => from;
  switch (status) {
    case 'finished':
    case 'failed':
    case 'cancelled':
      return (from) => job[status].findFrom(from);
    case 'waiting':
      return (from) =>
        firstOfSets([job.parked, ...(job.dependencies === undefined ? [] : [job.dependencies.waiting])], from);
    case 'ready':
      return (from) =>
        firstOfSets(
          job.queues.map(({ ready }) => ready),
          from,
        );
    default: {
      const open = [...job.tasks.values()]
        .filter((task) => task.status === status)
        .map((task) => task.index)
        .sort((a, b) => a - b);
      return (from) => open.find((index) => index >= from);
    }
  }
}

function firstOfSets(sets: readonly IndexSet[], from: TaskIndex): TaskIndex | undefined {
  let first: TaskIndex | undefined;
  for (const set of sets) {
    const found = set.findFrom(from);
    if (found !== undefined && (first === undefined || found < first)) first = found;
  }
  return first;
}

/** A machine's state in one word. */
export type MachineStatus = 'idle' | 'busy' | 'draining' | 'quarantined';

/** A GridMachine that the broker has. */
export interface MachineRecord {
  readonly facts: MachineFacts;
  readonly providerId: ProviderId;
  readonly status: MachineStatus;
  readonly joinedAt: Instant;
  /** Replicas that fit on its processors together. */
  readonly runningCount: number;
  /** Those in its queue. */
  readonly waitingCount: number;
  readonly finishedCount: number;
  readonly failedCount: number;
  /** The probability of a result of it to be right, at least. */
  readonly credibility: number;
}

/** All machines, in the order of joining. */
export function listMachineRecords(state: BrokerState, now: Instant): MachineRecord[] {
  return [...state.machines.values()].map((machine) => {
    const {
      facts,
      provider: { providerId },
      joinedAt,
      finishedCount,
      failedCount,
    } = machine;
    const runningCount = countRunning(machine);
    const waitingCount = machine.replicas.size - runningCount;
    const credibility = getCredibility(state, getIdentity(facts));
    return {
      facts,
      providerId,
      status: statusOfMachine(state, machine, now),
      joinedAt,
      runningCount,
      waitingCount,
      finishedCount,
      failedCount,
      credibility,
    };
  });
}

/** Replicas of a machine that fit on its processors together. */
export function countRunning(machine: BrokerMachine): number {
  let held = 0;
  let running = 0;
  for (const replica of machine.replicas.values()) {
    held += replica.processors;
    if (held <= machine.processors) running++;
  }
  return running;
}

/**
 * What a machine is: `draining` gets nothing new, because its time is over, its provider drains or is away, or it is
 * gone or about to stop.
 */
export function machineStatus(machine: BrokerMachine, now: Instant, wasCaught: boolean): MachineStatus {
  if (wasCaught) return 'quarantined';
  if (
    !isHere(machine) ||
    isDraining(machine.provider) ||
    (machine.facts.until !== undefined && machine.facts.until <= now)
  )
    return 'draining';
  if (machine.quarantinedUntil > now) return machine.isStopping ? 'draining' : 'quarantined';
  return machine.replicas.size === 0 ? 'idle' : 'busy';
}

/** What a machine does, with all that is known of it. */
export function statusOfMachine(state: BrokerState, machine: BrokerMachine, now: Instant): MachineStatus {
  const status = machineStatus(machine, now, isQuarantined(state, machine));
  return status !== 'quarantined' && findDrain(state, machine) !== undefined ? 'draining' : status;
}

/** A machine's record of trust, and its consequences. */
export interface ListedTrust extends TrustRecord {
  /** The probability of a result of it to be right, at least. */
  readonly credibility: number;
}

/** All machines of which something is known, those that were caught first. */
export function listTrust(state: BrokerState): ListedTrust[] {
  const records = [...state.records.values()].map((record) => ({
    ...record,
    credibility: getCredibility(state, record.identity),
  }));
  return records.toSorted((one, other) => Number(other.quarantinedAt !== 0) - Number(one.quarantinedAt !== 0));
}

/**
 * All allocation requests that providers reported, in that order; only those that have not ended unless `includeEnded`.
 */
export function listRequests(state: BrokerState, includeEnded: boolean): AllocationRequest[] {
  const requests: AllocationRequest[] = [];
  for (const [key, request] of state.requests) {
    if (includeEnded || isLiveRequest(request))
      requests.push({ ...request, seenAt: state.requestsSeen.get(key) ?? request.seenAt });
  }
  return requests;
}

/** Whether a request may still hold processors. */
export function isLiveRequest({ status }: AllocationRequest): boolean {
  return status === 'drafted' || status === 'submitting' || status === 'queued' || status === 'running';
}

/** A provider as users see it. */
export interface ProviderRecord {
  readonly providerId: ProviderId;
  readonly address: string;
  readonly isConnected: boolean;
  /** Why the connection was lost; empty while it is there. */
  readonly lastError: string;
  readonly machineCount: number;
  /**
   * What its resource is called at its reservation manager; empty where it honours no reservations, or has not said
   * yet.
   */
  readonly resourceId: string;
  /** Set while its owner drains it; undefined while it takes work, and while it is away. */
  readonly draining: DrainingStatus | undefined;
  /** Replicas on its machines that have not ended. */
  readonly runningCount: number;
}

/** All providers, in the order in which they were added. */
export function listProviders(state: BrokerState): ProviderRecord[] {
  return listUsedProviders(state).map((provider) => {
    const { providerId, address, isConnected, lastError, machines, resourceId, draining } = provider;
    return {
      providerId,
      address,
      isConnected,
      lastError,
      machineCount: machines.size,
      resourceId,
      draining,
      runningCount: countReplicasAt(provider),
    };
  });
}
