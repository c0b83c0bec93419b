import type { DependencyCondition, JobSpec } from '../../../messages/index.ts';
import { dependenciesMax } from '../../../messages/index.ts';
import type { Fault, Reason, Refusal } from '../../../reasons/index.ts';
import { unreachable, type JobId, type TaskIndex, type UserId } from '../../../shared/index.ts';
import { getJob } from '../apply/apply-job.ts';
import type { BrokerChange } from '../changes.ts';
import type { AwaitedJob, BrokerJob, BrokerState } from '../state.ts';
import { commit, wakeBy, type Turn } from '../turn.ts';
import { stopJob } from './cancel-job.ts';
import { findUserJob } from './find-job.ts';
import { countAllTasks } from './task-groups.ts';

/** What has become of a condition: `never` unless the awaited job is retried. */
type Verdict = 'met' | 'open' | 'never';

/** Why a job cannot wait for what its spec says; undefined where it can. Only earlier jobs have a number: no cycles. */
export function findDependencyFault(
  state: BrokerState,
  userId: UserId,
  { after = [], groups, open }: JobSpec,
): Refusal | undefined {
  const bad = (fault: Fault): Refusal => ({ code: 'MUT_BAD_REQUEST', fault });
  if (after.length > dependenciesMax)
    return bad({ code: 'job-dependencies-too-many', jobs: after.length, jobsMax: dependenciesMax });
  const known = new Set<string>();
  for (const { jobId, condition } of after) {
    const awaited = findUserJob(state, userId, jobId);
    if (awaited === undefined) return bad({ code: 'job-dependency-unknown', awaitedId: jobId });
    const key = `${condition} ${jobId}`;
    if (known.has(key)) return bad({ code: 'job-dependency-twice', awaitedId: jobId, condition });
    known.add(key);
    if (condition !== 'each') continue;
    const tasks = countAllTasks(groups);
    if (open === true || awaited.takesTasks || tasks !== awaited.taskCount)
      return bad({ code: 'job-dependency-unequal', awaitedId: jobId, tasks, awaitedTasks: awaited.taskCount });
  }
  return undefined;
}

/** Looks at all that a job waits for, just after it was accepted. */
export function settleDependencies(turn: Turn, job: BrokerJob): void {
  for (const awaited of [...job.awaited]) {
    if (job.status !== 'running') return;
    settle(turn, job, { awaited, indexes: awaited.waiting.values() });
  }
}

/**
 * Lets jobs go on, or cancels them, whose awaited jobs have changed in this step. Cost: the changes, and the tasks of
 * those that wait element by element for what has ended.
 */
export function followDependencies(turn: Turn): void {
  const { state, changes } = turn;
  if (state.dependents.size === 0) return;
  const before = changes.length;
  for (const change of changes.slice(0, before)) {
    const dependents = 'jobId' in change ? state.dependents.get(change.jobId) : undefined;
    if (dependents === undefined || !('jobId' in change)) continue;
    for (const job of [...dependents])
      for (const awaited of job.awaited.filter(({ jobId }) => jobId === change.jobId))
        if (job.status === 'running') settle(turn, job, { awaited, indexes: touchedBy(change, awaited) });
  }
  // What is ready now is placed, and what was cancelled ends, in the next step.
  if (changes.length > before) wakeBy(turn, turn.now);
}

/** Of the tasks that wait for their own: those that a change of the awaited job may free. */
function touchedBy(change: BrokerChange, { condition, waiting }: AwaitedJob): Iterable<TaskIndex> {
  if (condition !== 'each') return [];
  if (change.kind === 'ReplicasEnded')
    return change.endings.map(({ taskIndex }) => taskIndex).filter((index) => waiting.has(index));
  return ['TasksCancelled', 'JobCancelled', 'JobEnded'].includes(change.kind) ? waiting.values() : [];
}

function settle(
  turn: Turn,
  job: BrokerJob,
  { awaited, indexes }: { readonly awaited: AwaitedJob; readonly indexes: Iterable<TaskIndex> },
): void {
  const before = getJob(turn.state, awaited.jobId);
  if (awaited.condition === 'each') settleEach(turn, job, { awaited, before, indexes: [...indexes] });
  else settleWhole(turn, job, { condition: awaited.condition, before });
}

function settleWhole(
  turn: Turn,
  job: BrokerJob,
  { condition, before }: { readonly condition: DependencyCondition; readonly before: BrokerJob },
): void {
  const verdict = judge(before, condition);
  if (verdict === 'met') settled(turn, job, { awaitedId: before.jobId, condition, taskIndexes: [] });
  if (verdict === 'never') stopJob(turn, job, describeNever(before, condition));
}

function settleEach(
  turn: Turn,
  job: BrokerJob,
  {
    awaited: { jobId: awaitedId, condition },
    before,
    indexes,
  }: { readonly awaited: AwaitedJob; readonly before: BrokerJob; readonly indexes: readonly TaskIndex[] },
): void {
  const never = indexes.filter((index) => judgeTask(before, index) === 'never');
  const unwanted = never.filter((index) => job.parked.has(index) || job.dependencies?.waiting.has(index) === true);
  if (unwanted.length > 0)
    commit(turn, {
      kind: 'TasksCancelled',
      jobId: job.jobId,
      taskIndexes: unwanted,
      reason: describeNever(before, condition),
      at: turn.now,
    });
  const taskIndexes = indexes.filter((index) => judgeTask(before, index) !== 'open');
  if (taskIndexes.length > 0) settled(turn, job, { awaitedId, condition, taskIndexes });
}

function settled(
  turn: Turn,
  { jobId }: BrokerJob,
  what: {
    readonly awaitedId: JobId;
    readonly condition: DependencyCondition;
    readonly taskIndexes: readonly TaskIndex[];
  },
): void {
  commit(turn, { kind: 'DependencySettled', jobId, ...what, at: turn.now });
}

function describeNever({ jobId, status }: BrokerJob, condition: DependencyCondition): Reason {
  return { code: 'dependency-never-met', awaitedId: jobId, condition, status };
}

function judge(before: BrokerJob, condition: Exclude<DependencyCondition, 'each'> | 'each'): Verdict {
  const hasEnded = before.endedAt !== 0;
  switch (condition) {
    case 'started':
      return hasEnded || hasStarted(before) ? 'met' : 'open';
    case 'ended':
      return hasEnded ? 'met' : 'open';
    case 'succeeded':
    case 'failed':
      if (!hasEnded) return 'open';
      return (before.status === 'finished') === (condition === 'succeeded') ? 'met' : 'never';
    case 'each':
      return 'open';
    default:
      return unreachable(condition);
  }
}

/** Cost: O(open tasks) until one has started. */
function hasStarted({ finished, failed, tasks }: BrokerJob): boolean {
  if (finished.size + failed.size > 0) return true;
  for (const task of tasks.values()) if (task.hasStarted === true) return true;
  return false;
}

/** A job all of whose tasks have finished does not name them any more. */
function judgeTask({ status, finished, failed, cancelled }: BrokerJob, index: TaskIndex): Verdict {
  if (status === 'finished' || finished.has(index)) return 'met';
  return failed.has(index) || cancelled.has(index) ? 'never' : 'open';
}
