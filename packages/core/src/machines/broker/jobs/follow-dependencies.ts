import type { DependencyCondition, JobSpec } from '../../../messages/index.ts';
import { dependenciesMax } from '../../../messages/index.ts';
import type { Fault, Reason, Refusal } from '../../../reasons/index.ts';
import { type IndexSet, unreachable, type JobId, type TaskIndex, type UserId } from '../../../shared/index.ts';
import { getJob } from '../apply/apply-job.ts';
import type { BrokerChange } from '../changes.ts';
import type { AwaitedJob, BrokerJob, BrokerState } from '../state.ts';
import { commit, wakeBy, type Turn } from '../turn.ts';
import { stopJob } from './cancel-job.ts';
import { hasStarted } from './end-jobs.ts';
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
  for (const awaited of [...job.awaited]) if (job.status === 'running') settle(turn, job, awaited);
}

/**
 * A retried job no longer waits for jobs that have ended, in the required way or another: its user insists.
 * For what may still come it waits.
 */
export function insistOnDependencies(turn: Turn, job: BrokerJob): void {
  for (const { jobId, condition, waiting } of [...job.awaited]) {
    const before = turn.state.jobs.get(jobId);
    if (condition === 'each') {
      const taskIndexes = before === undefined ? [...waiting.values()] : listEnded(before, waiting);
      if (taskIndexes.length > 0) settled(turn, job, { awaitedId: jobId, condition, taskIndexes });
    } else if (before === undefined || judge(before, condition) !== 'open')
      settled(turn, job, { awaitedId: jobId, condition, taskIndexes: [] });
  }
}

/**
 * Lets jobs go on, or cancels them, whose awaited jobs have changed in this step, and then those that wait for these.
 * Cost: the changes, and for each job that begins, ends or has tasks end, those that wait for just that; where they
 * wait task by task, O(tasks / 32) each.
 */
export function followDependencies(turn: Turn): void {
  const { state, changes } = turn;
  if (state.dependents.size === 0) return;
  const before = changes.length;
  for (let from = 0; from < changes.length; ) {
    const touched = findTouched(turn, from);
    from = changes.length;
    for (const [jobId, conditions] of touched) settleDependents(turn, jobId, conditions);
  }
  // What is ready now is placed, and what was cancelled ends, in the next step.
  if (changes.length > before) wakeBy(turn, turn.now);
}

/** Of jobs that others wait for, the conditions that changes from this one on may have settled. */
function findTouched({ state, changes }: Turn, from: number): Map<JobId, Set<DependencyCondition>> {
  const touched = new Map<JobId, Set<DependencyCondition>>();
  for (let at = from; at < changes.length; at++) {
    const change = changes[at] as BrokerChange;
    const conditions = conditionsBy[change.kind];
    if (conditions === undefined || !('jobId' in change) || !state.dependents.has(change.jobId)) continue;
    const known = touched.get(change.jobId);
    if (known === undefined) touched.set(change.jobId, new Set(conditions));
    else for (const condition of conditions) known.add(condition);
  }
  return touched;
}

/** The changes with which a job begins, a task of it ends, or all of it; others settle nothing. */
const conditionsBy: Partial<Record<BrokerChange['kind'], readonly DependencyCondition[]>> = {
  ReplicasStarted: ['started'],
  ReplicaVerifying: ['started'],
  ReplicasEnded: ['started', 'each'],
  ReplicaLetGo: ['each'],
  TaskDecided: ['each'],
  TasksCancelled: ['each'],
  JobCancelled: ['each'],
  JobEnded: ['started', 'ended', 'succeeded', 'failed', 'each'],
};

function settleDependents(turn: Turn, jobId: JobId, conditions: ReadonlySet<DependencyCondition>): void {
  const { dependents, earlyDependents } = turn.state;
  const found = (conditions.has('ended') ? dependents : earlyDependents).get(jobId) ?? [];
  for (const job of [...found])
    for (const awaited of job.awaited.filter((one) => one.jobId === jobId && conditions.has(one.condition)))
      if (job.status === 'running') settle(turn, job, awaited);
}

function settle(turn: Turn, job: BrokerJob, { jobId, condition, waiting }: AwaitedJob): void {
  const before = getJob(turn.state, jobId);
  if (condition === 'each') settleEach(turn, job, { before, indexes: listEnded(before, waiting) });
  else settleWhole(turn, job, { condition, before });
}

/** Whether a step must settle the condition of a job that runs: as a whole, or for a task of it. */
export function isDecided(
  before: BrokerJob,
  { condition, waiting }: Pick<AwaitedJob, 'condition' | 'waiting'>,
): boolean {
  return condition === 'each' ? listEnded(before, waiting).length > 0 : judge(before, condition) !== 'open';
}

/** Those of these tasks that have ended, ascending. A job all of whose tasks have finished does not name them. */
function listEnded({ status, finished, failed, cancelled }: BrokerJob, among: IndexSet): TaskIndex[] {
  if (status === 'finished') return [...among.values()];
  return [finished, failed, cancelled].flatMap((ended) => [...among.valuesIn(ended)]).sort((one, other) => one - other);
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
  { before, indexes }: { readonly before: BrokerJob; readonly indexes: readonly TaskIndex[] },
): void {
  const condition = 'each';
  const unwanted = indexes
    .filter((index) => hasFallenAway(before, index))
    .filter((index) => job.parked.has(index) || job.dependencies?.waiting.has(index) === true);
  if (unwanted.length > 0)
    commit(turn, {
      kind: 'TasksCancelled',
      jobId: job.jobId,
      taskIndexes: unwanted,
      reason: describeNever(before, condition),
      at: turn.now,
    });
  if (indexes.length > 0) settled(turn, job, { awaitedId: before.jobId, condition, taskIndexes: indexes });
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

function judge(before: BrokerJob, condition: DependencyCondition): Verdict {
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

/** Whether a task that has ended did not finish. */
function hasFallenAway({ failed, cancelled }: BrokerJob, index: TaskIndex): boolean {
  return failed.has(index) || cancelled.has(index);
}
