import type { Reason } from '../../../reasons/index.ts';
import { invariant, type Instant, type JobId, type TaskIndex } from '../../../shared/index.ts';
import type { BrokerChange, ReplicaDisposition } from '../changes.ts';
import { makePlan } from './make-plan.ts';
import { foreseenKey } from './planning.ts';
import { getBound, canBePlanned, getExpectedEnd, learnTimes, takeForeseen, timeOn } from './planned-times.ts';
import type { BrokerJob, BrokerMachine, BrokerState, Foreseen, GridPlan, Planning } from '../state.ts';
import { type Turn, wakeBy } from '../turn.ts';

/**
 * Keeps the plan up to date: it is made again when a job arrives, is cancelled or retried, a machine comes or leaves, a
 * task failed, a run was off by more than its bound, or the tasks planned in detail run out. Not more often than the
 * plan costs; until then the old one is followed, and tasks that are not in it are dispatched as they come.
 *
 * Cost: O(changes of the step + machines), except when a plan is made.
 *
 * @param machines those that may get tasks now.
 */
export function refreshPlan(turn: Turn, machines: readonly BrokerMachine[]): void {
  const { state, now } = turn;
  const { planning } = state;
  if (!hasPlannable(state)) {
    forgetPlan(planning);
    return;
  }
  for (const change of turn.changes) receive(state, change);
  if (planning.lateAt <= now) lookForLate(state, now);
  const { plan } = planning;
  const because = planning.staleBecause ?? whyStale(state, plan, machines);
  if (because !== undefined) {
    if (plan === undefined || isDue(plan, now)) renew(turn, machines, because);
    else wakeBy(turn, plan.notBefore);
  }
  wakeBy(turn, planning.lateAt);
}

function forgetPlan(planning: Planning): void {
  planning.plan = undefined;
  planning.staleBecause = undefined;
  planning.foreseen.clear();
  planning.lateAt = Infinity;
}

/** A clock that was set back must not put it off. */
function isDue({ notBefore, madeAt }: GridPlan, now: Instant): boolean {
  return notBefore <= now || madeAt > now;
}

function hasPlannable(state: BrokerState): boolean {
  for (const { scheduler, queues } of state.openJobs.values())
    if (scheduler === 'plan' && queues.some((queue) => canBePlanned(state, queue))) return true;
  return false;
}

/** What a change says of times and of the plan. */
function receive(state: BrokerState, change: BrokerChange): void {
  switch (change.kind) {
    case 'JobAccepted':
      return markStale(state, { code: 'plan-job-arrived', jobId: change.jobId });
    case 'JobCancelled':
      return markStale(state, { code: 'plan-job-cancelled', jobId: change.jobId });
    case 'TasksCancelled':
      return markStale(state, { code: 'plan-tasks-cancelled', jobId: change.jobId });
    case 'TasksAppended':
      return markStale(state, { code: 'plan-tasks-appended', jobId: change.jobId });
    case 'TasksHeld':
    case 'TasksReleased':
    case 'DependencySettled':
    case 'BeginReached':
      return markStale(state, { code: 'plan-tasks-held', jobId: change.jobId });
    case 'JobUpdated':
      return markStale(state, { code: 'plan-job-updated', jobId: change.jobId });
    case 'TasksRetried':
      return markStale(state, { code: 'plan-tasks-retried', jobId: change.jobId });
    case 'ResultsDoubted':
      return markStale(state, { code: 'plan-results-doubted', jobId: change.jobId });
    case 'ReplicasEnded': {
      learnTimes(state, change);
      if (state.jobs.get(change.jobId)?.scheduler !== 'plan') return undefined;
      for (const { taskIndex, disposition } of change.endings)
        onEnd(state, { jobId: change.jobId, taskIndex, disposition, at: change.at });
      return undefined;
    }
    default:
      return undefined;
  }
}

function markStale(state: BrokerState, because: Reason & { readonly jobId: JobId }): void {
  if (state.jobs.get(because.jobId)?.scheduler === 'plan') state.planning.staleBecause ??= because;
}

function onEnd(
  { planning }: BrokerState,
  {
    jobId,
    taskIndex,
    disposition,
    at,
  }: {
    readonly jobId: JobId;
    readonly taskIndex: TaskIndex;
    readonly disposition: ReplicaDisposition;
    readonly at: Instant;
  },
): void {
  const foreseen = takeForeseen(planning, jobId, taskIndex);
  if (disposition === 'failed' || disposition === 'lost' || disposition === 'withdrawn')
    planning.staleBecause ??= { code: 'plan-task-ended-badly', jobId, taskIndex, disposition };
  else if (foreseen !== undefined && Math.abs(at - foreseen.end) > foreseen.bound) {
    const code = at < foreseen.end ? 'plan-task-ended-early' : 'plan-task-ended-late';
    planning.staleBecause ??= { code, jobId, taskIndex };
  }
}

/** Looks whether something that runs is late, and when the next one will be. Cost: O(tasks that run). */
function lookForLate({ planning }: BrokerState, now: Instant): void {
  let next = Infinity;
  for (const [key, { job, index, end, bound }] of planning.foreseen) {
    if (job.tasks.get(index)?.replicas.length === 0 || !job.tasks.has(index)) planning.foreseen.delete(key);
    else if (end + bound <= now)
      planning.staleBecause ??= { code: 'plan-task-late', jobId: job.jobId, taskIndex: index };
    else next = Math.min(next, end + bound);
  }
  planning.lateAt = next;
}

function whyStale(
  state: BrokerState,
  plan: GridPlan | undefined,
  machines: readonly BrokerMachine[],
): Reason | undefined {
  if (plan === undefined) return { code: 'plan-first' };
  if (plan.machines.length !== machines.length || plan.machines.some((machine, place) => machine !== machines[place]))
    return { code: 'plan-machines-changed' };
  for (const job of state.openJobs.values()) {
    if (job.scheduler !== 'plan') continue;
    if (job.queues.some((queue) => canBePlanned(state, queue) !== plan.queues.has(queue)))
      return { code: 'plan-times-learnt', jobId: job.jobId };
  }
  if (plan.leftMin > 0 && plan.leftCount <= plan.leftMin) return { code: 'plan-used-up' };
  return undefined;
}

function renew(turn: Turn, machines: readonly BrokerMachine[], because: Reason): void {
  const { state, now } = turn;
  const { planning } = state;
  planning.plan = makePlan(turn, machines, because);
  planning.staleBecause = undefined;
  planning.foreseen.clear();
  planning.lateAt = Infinity;
  for (const machine of state.machines.values()) {
    for (const replica of machine.replicas.values()) {
      const {
        job,
        task: { index },
        dispatchedAt,
      } = replica;
      if (job.scheduler !== 'plan') continue;
      const end = getExpectedEnd(planning, replica, now);
      if (end < Infinity) foresee(state, { job, index, end, bound: getBound(end - dispatchedAt) });
    }
  }
}

/** Takes note of when tasks that are placed now are expected to end. */
export function foreseeStart(
  turn: Turn,
  machine: BrokerMachine,
  { job, index }: { readonly job: BrokerJob; readonly index: TaskIndex },
): void {
  const { state, now } = turn;
  const time = timeOn(state.planning, machine, { job, index });
  if (time === undefined) return;
  foresee(state, { job, index, end: now + time, bound: getBound(time) });
  wakeBy(turn, state.planning.lateAt);
}

/** Of a task with several replicas, the one that is expected to end first counts. */
function foresee({ planning }: BrokerState, foreseen: Foreseen): void {
  const {
    job: { jobId },
    index,
    end,
    bound,
  } = foreseen;
  const key = foreseenKey(jobId, index);
  const known = planning.foreseen.get(key);
  if (known !== undefined && known.end <= end) return;
  planning.foreseen.set(key, foreseen);
  planning.lateAt = Math.min(planning.lateAt, end + bound);
}

/** Takes a task out of the plan, since it begins. */
export function takePlanned({ planning: { plan } }: BrokerState, job: BrokerJob, index: TaskIndex): void {
  const tasks = plan?.tasks.get(job);
  if (plan === undefined || tasks?.delete(index) !== true) return;
  plan.leftCount--;
  invariant(plan.leftCount >= 0, `a plan has ${plan.leftCount} tasks left`);
}
