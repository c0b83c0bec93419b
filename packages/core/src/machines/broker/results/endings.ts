import type { Cause } from '../../../reasons/index.ts';
import {
  doubtsMax,
  faultAtHome,
  faultOfCode,
  isCountedLoss,
  isDoubted,
  isShutdown,
  isStop,
  noSpace,
  stopsMax,
} from '../../../bag/index.ts';
import type { ReplicaEnd, TaskStatus } from '../../../messages/index.ts';
import type { Instant } from '../../../shared/index.ts';
import type { ReplicaEnding, ReplicaDisposition } from '../changes.ts';
import { isFollower } from '../gangs/gang.ts';
import { findMemoryGrowth, memoryCodes, memoryMaxCode, type MemoryGrowth } from '../jobs/grow-memory.ts';
import type { BrokerOptions } from '../options.ts';
import {
  hasEnded,
  type BrokerJob,
  type BrokerReplica,
  type BrokerState,
  type OpenTask,
  type Success,
} from '../state.ts';
import { commit, type Turn } from '../turn.ts';
import { countLosses, findJudge } from './judge-losses.ts';
import { explainFullCut, walltimeCutsMax, walltimeMaxCode } from './longest-walltime.ts';

const noBytes = new Uint8Array(0);

/** The code of a task that was given up because its replicas were lost or broken too often. */
export const lostOften = 'MUT_TASK_LOSS_LIMIT';

/** How a replica counts whose machine reports its end. */
export function getFate(replica: BrokerReplica, end: ReplicaEnd): ReplicaDisposition {
  if (replica.abortDisposition !== undefined) return abortedDisposition(replica.abortDisposition);
  // Whatever the outcome, it is no longer where its gang needs it.
  if (isFollower(replica) && end.outcome !== 'cancelled') return 'lost';
  switch (end.outcome) {
    case 'succeeded':
      return 'accepted';
    case 'failed':
    case 'limited':
      return 'failed';
    // Whatever the reason of the cancellation, the task is as before if it never started.
    case 'cancelled':
      return end.startedAt === 0 ? 'withdrawn' : 'lost';
    case 'broken':
      return brokenDisposition(end);
  }
}

function brokenDisposition({ reason, startedAt }: ReplicaEnd): ReplicaDisposition {
  const fault = faultOfCode(reason);
  // An agent of another release may call broken what is the task's own doing.
  if (fault === 'task' || fault === 'user') return 'failed';
  // A disk that was full before it began, or a machine that was leaving or took no new work, says nothing about the
  // task.
  return (reason === noSpace || isShutdown(reason)) && startedAt === 0 ? 'withdrawn' : 'lost';
}

function abortedDisposition(
  abortDisposition: Exclude<BrokerReplica['abortDisposition'], undefined>,
): ReplicaDisposition {
  return abortDisposition === 'retried' ? 'cancelled' : abortDisposition;
}

/**
 * The status of a task after one of its replicas ended on a machine.
 *
 * A task is given up only when none of its replicas runs any more: a sibling may still succeed.
 */
export function statusAfter(
  replica: BrokerReplica,
  { outcome, disposition, reason, startedAt }: Pick<ReplicaEnding, 'outcome' | 'disposition' | 'reason' | 'startedAt'>,
  options: BrokerOptions,
  isInDoubt = false,
): TaskStatus {
  const { job, task } = replica;
  if (isFollower(replica)) return presentStatus(job, task);
  if (disposition === 'accepted') return 'finished';
  if (hasEnded(task)) return presentStatus(job, task);
  if (task.replicas.length > 1 || task.successes !== undefined) return task.status;
  if (disposition === 'cancelled' && replica.abortDisposition !== 'retried') return 'cancelled';
  if (isTooLong(task, { reason })) return 'failed';
  return statusAlone(task, {
    disposition,
    reason,
    startedAt,
    isInDoubt,
    isUnjudged: findJudge(replica, { outcome, disposition, reason }) !== undefined,
    failuresMax: replica.job.failuresMax,
    lossesMax: options.lossesMax,
  });
}

/**
 * The present status of a task that has ended: it runs again when its result was doubted, possibly next to siblings of
 * a former winner.
 */
function presentStatus(job: BrokerJob, { index, status }: OpenTask): TaskStatus {
  const open = job.tasks.get(index);
  if (open !== undefined) return open.status;
  if (job.dependencies?.waiting.has(index) === true) return 'waiting';
  return job.parked.has(index) || job.queues.some(({ ready }) => ready.has(index)) ? 'ready' : status;
}

interface LastEnding {
  readonly disposition: ReplicaDisposition;
  readonly reason: string;
  /** 0 when it did not run. */
  readonly startedAt: Instant;
  /** See `isDoubted`. */
  readonly isInDoubt?: boolean;
  /** Whether the end of its allocation will show why it was lost. */
  readonly isUnjudged?: boolean;
  readonly failuresMax: number;
  readonly lossesMax: number;
}

/** What a task is after the last of its replicas ended without success. */
export function statusAlone(
  task: OpenTask,
  { isInDoubt = false, isUnjudged = false, failuresMax, lossesMax, ...ending }: LastEnding,
): TaskStatus {
  // A task that fails everywhere is not tried as often as machines may be lost.
  if (isInDoubt && task.doubtCount + 1 >= doubtsMax) return 'failed';
  const failures = task.failureCount + (ending.disposition === 'failed' ? 1 : 0);
  const losses = countLosses(withLoss(task, isCountedLoss(ending), isUnjudged), lossesMax);
  const stops = task.stopCount + (isStop(ending) ? 1 : 0);
  return failures >= failuresMax || losses >= lossesMax || stops >= stopsMax ? 'failed' : 'ready';
}

function withLoss(
  { lossCount, unjudged = [] }: OpenTask,
  isCounted: boolean,
  isUnjudged: boolean,
): { readonly lossCount: number; readonly unjudgedCount: number } {
  return { lossCount: lossCount + Number(isCounted), unjudgedCount: unjudged.length + Number(isCounted && isUnjudged) };
}

/** Whether no allocation is long enough for a task: each further try would cost a whole one. */
function isTooLong({ walltimeCutCount }: OpenTask, { reason }: Pick<LastEnding, 'reason'>): boolean {
  return reason === walltimeMaxCode && walltimeCutCount + 1 >= walltimeCutsMax;
}

/** Whether a task has failed, been lost or been stopped as often as it may. */
export function isSpent(
  task: OpenTask,
  { failuresMax }: Pick<BrokerJob, 'failuresMax'>,
  { lossesMax }: BrokerOptions,
): boolean {
  const { failureCount, doubtCount, stopCount, walltimeCutCount } = task;
  return (
    failureCount >= failuresMax ||
    countLosses(withLoss(task, false, false), lossesMax) >= lossesMax ||
    doubtCount >= doubtsMax ||
    stopCount >= stopsMax ||
    walltimeCutCount >= walltimeCutsMax
  );
}

/** What a task is without one of its successes, which ends so. */
export function statusWithout(
  { state }: Pick<Turn, 'state'>,
  { job, task }: Success,
  disposition: ReplicaDisposition,
): TaskStatus {
  if ((task.successes?.length ?? 0) > 1) return 'verifying';
  if (task.replicas.length > 0) return 'running';
  if (job.status === 'cancelled' || task.isCancelled === true) return 'cancelled';
  return statusAlone(task, {
    disposition,
    reason: '',
    startedAt: 0,
    failuresMax: job.failuresMax,
    lossesMax: state.options.lossesMax,
  });
}

/** The ending of a success that home does not take. */
export function refusedEnding(
  turn: Pick<Turn, 'state'>,
  success: Success,
  { reason, detail }: { readonly reason: string; readonly detail: Cause },
): ReplicaEnding {
  const disposition = refusedDisposition(success, reason);
  const taskStatus = statusWithout(turn, success, disposition);
  const isLostOften = taskStatus === 'failed' && disposition === 'lost';
  return {
    ...success.ending,
    disposition,
    taskStatus,
    reason: isLostOften ? lostOften : reason,
    ...(isLostOften ? { lastLoss: reason } : {}),
    detail: isLostOften ? { code: 'last-loss', endCode: reason, cause: detail } : detail,
  };
}

/**
 * The code of a check that was ended with its job, which may run again by the time that the check's end is reported.
 */
const cancelledCode = 'MUT_CANCELLED';

/** Bytes that did not arrive, or not as they were announced, say nothing about the task. */
function refusedDisposition({ job: { status }, task }: Success, reason: string): ReplicaDisposition {
  if (status === 'cancelled' || task.isCancelled === true || reason === cancelledCode) return 'cancelled';
  const fault = faultAtHome(reason);
  if (fault === 'misconduct') return 'outvoted';
  return fault === 'site' || fault === 'machine' ? 'lost' : 'failed';
}

/**
 * Managers warn of the end of a walltime by a signal some time before it. A task that is stopped within the last tenth
 * of the time that it had is too long for the
 * allocation; were that counted as any other shutdown, a task that is longer than every walltime would run for ever.
 */
function getReason(
  {
    machine: {
      facts: { until },
    },
  }: BrokerReplica,
  { reason, startedAt, endedAt }: ReplicaEnd,
): string {
  if (reason !== 'MUT_AGENT_STOPPED' || until === undefined || startedAt === 0) return reason;
  return until - endedAt <= (endedAt - startedAt) / 9 ? 'MUT_WALLTIME_ENDED' : reason;
}

/** Why a replica ended, where the end of its allocation may have cut it although no allocation could last longer. */
function judgeCut(
  { state, now }: Turn,
  { replica, disposition }: { readonly replica: BrokerReplica; readonly disposition: ReplicaDisposition },
  end: Pick<ReplicaEnd, 'reason' | 'detail' | 'startedAt' | 'endedAt'>,
): { readonly reason: string; readonly detail: Cause } {
  const detail =
    disposition === 'lost' && !isFollower(replica)
      ? explainFullCut(state, replica, { startedAt: end.startedAt, endedAt: end.endedAt, now })
      : undefined;
  return detail === undefined ? end : { reason: walltimeMaxCode, detail };
}

/** Whether a task is given up for its losses, and not for its length. */
function isGivenUp(
  replica: BrokerReplica,
  { disposition, taskStatus, reason }: Pick<ReplicaEnding, 'disposition' | 'taskStatus' | 'reason'>,
): boolean {
  return taskStatus === 'failed' && disposition === 'lost' && reason !== walltimeMaxCode && !isFollower(replica);
}

/** The ending of a replica as its machine reports it. */
export function reportedEnding(turn: Turn, replica: BrokerReplica, end: ReplicaEnd): ReplicaEnding {
  const disposition = getFate(replica, end);
  const { reason, detail } = judgeCut(turn, { replica, disposition }, { ...end, reason: getReason(replica, end) });
  const isInDoubt = isDoubted({ ...end, disposition });
  const status = statusAfter(
    replica,
    { outcome: end.outcome, disposition, reason, startedAt: end.startedAt },
    turn.state.options,
    isInDoubt,
  );
  const growth = growthAfter(turn.state, replica, { disposition, reason });
  const taskStatus = statusGrown(replica, { growth, status });
  const isLostOften = !isInDoubt && isGivenUp(replica, { disposition, taskStatus, reason });
  return {
    replicaId: replica.replicaId,
    taskIndex: replica.task.index,
    disposition,
    taskStatus,
    outcome: end.outcome,
    exitStatus: end.exitStatus,
    dispatchedAt: replica.dispatchedAt,
    startedAt: end.startedAt,
    endedAt: end.endedAt,
    reason: isLostOften ? lostOften : reason,
    ...(isLostOften ? { lastLoss: reason } : {}),
    detail: isLostOften ? { code: 'last-loss', endCode: reason, cause: end.detail } : detail,
    standardOutput: end.standardOutput,
    standardError: end.standardError,
    outputTruncated: end.outputTruncated,
    outputs: end.outputs,
    ...(end.staging === undefined ? {} : { staging: end.staging }),
    ...(end.usage === undefined ? {} : { usage: end.usage }),
    ...(growth?.kind === 'more' ? { memoryNext: growth.memory } : {}),
  };
}

/** How a task goes on after a replica used too much memory; undefined if its job does not ask for that. */
function growthAfter(
  state: BrokerState,
  replica: BrokerReplica,
  { disposition, reason }: Pick<ReplicaEnding, 'disposition' | 'reason'>,
): MemoryGrowth | undefined {
  if (disposition !== 'failed' || !memoryCodes.has(reason) || isFollower(replica) || hasEnded(replica.task))
    return undefined;
  const growth = findMemoryGrowth(state, replica);
  // Others may have used the memory that its machine ran out of: it runs again like any other that failed.
  return growth?.kind === 'no-more' && reason !== memoryMaxCode ? undefined : growth;
}

/** Its task runs again with more; where no machine has more, it would only use too much again. */
function statusGrown(
  { task }: BrokerReplica,
  { growth, status }: { readonly growth: MemoryGrowth | undefined; readonly status: TaskStatus },
): TaskStatus {
  if (growth === undefined || (status !== 'ready' && status !== 'failed')) return status;
  if (task.replicas.length > 1 || task.successes !== undefined) return status;
  return growth.kind === 'more' ? 'ready' : 'failed';
}

/** Why a replica ended for which no machine reports an end. */
export interface UnreportedEnd {
  readonly disposition: ReplicaDisposition;
  readonly reason: string;
  readonly detail: Cause;
}

/** Ends one replica for which no machine reports an end. */
export function endUnreported(turn: Turn, replica: BrokerReplica, end: UnreportedEnd): void {
  const {
    job: { jobId },
    machine: {
      facts: { machineId },
    },
  } = replica;
  commit(turn, {
    kind: 'ReplicasEnded',
    machineId,
    jobId,
    endings: [unreportedEnding(turn, replica, end)],
    at: turn.now,
  });
}

/** The ending of a replica for which no machine reports one: now, as far as is known. */
export function unreportedEnding(turn: Turn, replica: BrokerReplica, end: UnreportedEnd): ReplicaEnding {
  const disposition =
    replica.abortDisposition === undefined ? end.disposition : abortedDisposition(replica.abortDisposition);
  const { reason, detail } = judgeCut(
    turn,
    { replica, disposition },
    { ...end, startedAt: replica.startedAt, endedAt: turn.now },
  );
  const status = statusAfter(
    replica,
    { outcome: undefined, disposition, reason, startedAt: replica.startedAt },
    turn.state.options,
  );
  // The leader of a gang ends so for what a member used.
  const growth = growthAfter(turn.state, replica, { disposition, reason });
  const taskStatus = statusGrown(replica, { growth, status });
  const isLostOften = isGivenUp(replica, { disposition, taskStatus, reason });
  return {
    replicaId: replica.replicaId,
    taskIndex: replica.task.index,
    disposition,
    taskStatus,
    outcome: undefined,
    exitStatus: 0,
    dispatchedAt: replica.dispatchedAt,
    startedAt: replica.startedAt,
    endedAt: turn.now,
    reason: isLostOften ? lostOften : reason,
    ...(isLostOften ? { lastLoss: end.reason } : {}),
    detail: isLostOften ? { code: 'last-loss', endCode: end.reason, cause: '' } : detail,
    standardOutput: noBytes,
    standardError: noBytes,
    outputTruncated: false,
    outputs: [],
    ...(growth?.kind === 'more' ? { memoryNext: growth.memory } : {}),
  };
}
