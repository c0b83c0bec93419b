import { stopsMax } from '../../../bag/index.ts';
import type { TakenTask } from '../../../messages/index.ts';
import type { Reason } from '../../../reasons/index.ts';
import type { Instant, JobId, MachineId, TaskIndex, UserId } from '../../../shared/index.ts';
import type { ReplicaEnding } from '../changes.ts';
import { isBeingCancelled } from '../apply/apply-job.ts';
import { avoidedUntil } from '../dispatch/avoidance.ts';
import { describeAlternatives, explainAlternatives } from './explain-alternatives.ts';
import { describeGang } from './explain-gang.ts';
import { explainAssignment } from './explain-site-selection.ts';
import { explainExpiry, explainGates } from './explain-gates.ts';
import { explainPlanned } from './explain-plan.ts';
import { explainScheduling, explainSibling } from './explain-scheduling.ts';
import { explainWaiting } from './explain-waiting.ts';
import type { Explanation } from './explanation.ts';
import { findUserJob } from '../jobs/find-job.ts';
import { explainAdopted, explainLeasedTask } from './explain-lease.ts';
import { explainCancelled, explainUnmet } from './explain-workflow.ts';
import { explainChosen } from './explain-usage.ts';
import { explainVotes } from './explain-votes.ts';
import { describeRest } from './job-estimate.ts';
import { findTaskSummary, type TaskSummary } from '../queries.ts';
import type { BrokerJob, BrokerState, OpenTask } from '../state.ts';
import { findQueue } from '../site-selection/assigned-tasks.ts';
import { isVotedOn } from '../trust/votes.ts';

/** A replica that has ended, from the process's records. */
export interface PastReplica {
  readonly machineId: MachineId;
  readonly ending: Pick<
    ReplicaEnding,
    'replicaId' | 'disposition' | 'outcome' | 'exitStatus' | 'startedAt' | 'endedAt' | 'reason' | 'detail'
  >;
}

/** What is asked about. */
export interface TaskSubject {
  readonly userId: UserId;
  readonly jobId: JobId;
  readonly taskIndex: TaskIndex;
  /** Its replicas that ended, oldest first. */
  readonly past: readonly PastReplica[];
  /** Whose result it has, where that was taken over when the job was submitted. */
  readonly reusedFrom?: TakenTask | undefined;
}

/** Shared by the parts of an explanation of one task. */
interface TaskView {
  readonly state: BrokerState;
  readonly job: BrokerJob;
  readonly task: TaskSummary;
  /** While it is not over. */
  readonly open: OpenTask | undefined;
  /** How its replicas ended, oldest first. */
  readonly past: readonly Reason[];
  readonly now: Instant;
}

/** Explains the status of a task; undefined if this user has no such task. */
export function explainTask(state: BrokerState, subject: TaskSubject, now: Instant): Explanation | undefined {
  const { jobId, taskIndex } = subject;
  const job = findUserJob(state, subject.userId, jobId);
  const task = job === undefined ? undefined : findTaskSummary(job, taskIndex);
  if (job === undefined || task === undefined) return undefined;
  const past = describeEnded(subject.past);
  const view: TaskView = { state, job, task, open: job.tasks.get(taskIndex), past, now };
  switch (task.status) {
    case 'waiting':
      if (job.parked.has(taskIndex)) return explainParked(view);
      return explainUnmet(job, task, [...explainPlanned(state, job, taskIndex, now), ...past]);
    case 'ready':
      return explainReady(view);
    case 'running':
      return view.open !== undefined && isBeingCancelled(view.open) ? explainCancelling(view) : explainRunning(view);
    case 'verifying':
      return explainVerifying(view);
    case 'finished':
      return { summary: summarizeFinished(subject), details: past };
    case 'failed':
      return {
        summary: { code: 'task-failed', jobId, taskIndex },
        details: past.length === 0 ? [{ code: 'records-gone' }] : latestFirst(past),
      };
    case 'cancelled':
      return { summary: explainCancelled(job, taskIndex), details: past };
  }
}

function explainParked({ state, job, task: { taskIndex }, past, now }: TaskView): Explanation {
  const { jobId, held } = job;
  const [why, ...more] = explainGates(state, job, now, taskIndex);
  const details = [...more, ...explainExpiry(job, now), ...past];
  return held.has(taskIndex) || why === undefined
    ? { summary: { code: 'task-held', jobId, taskIndex }, details: why === undefined ? details : [why, ...details] }
    : { summary: { code: 'task-gated', jobId, taskIndex }, waiting: why, details };
}

/** What is only counted stays last. */
function latestFirst(past: readonly Reason[]): Reason[] {
  return [...past].reverse().sort((one, other) => Number(isCount(one)) - Number(isCount(other)));
}

function isCount({ code }: Reason): boolean {
  return code === 'replicas-withdrawn';
}

function explainRunning({ state, job, task, open, past, now }: TaskView): Explanation {
  const { taskIndex, replicas } = task;
  const gang = open?.replicas[0]?.member?.gang;
  const summary: Reason = {
    code: 'task-running',
    jobId: job.jobId,
    taskIndex,
    machineIds: replicas.map(({ machineId }) => machineId),
  };
  return {
    summary: gang === undefined ? summary : describeGang(gang, taskIndex, now),
    details: [
      ...(gang === undefined ? replicas.map((replica) => describeReplica(replica, now)) : []),
      ...(open === undefined ? [] : describeAlternatives(open)),
      ...explainChosen(job),
      ...describeRests(state, task, now),
      ...explainAssignment(job, taskIndex, now),
      ...(open === undefined ? [] : explainAdopted(open)),
      ...explainScheduling(state, job, now),
      ...explainSibling(job, open, now),
      ...past,
    ],
  };
}

function explainCancelling({ state, job: { jobId }, task: { taskIndex, replicas }, past, now }: TaskView): Explanation {
  const machineIds = replicas.map(({ machineId }) => machineId);
  return {
    summary: { code: 'task-cancelling', jobId, taskIndex, machineIds },
    details: [
      ...replicas.map((replica) => describeReplica(replica, now)),
      ...replicas.flatMap((replica) => describeAwaitedEnd(state, replica, now)),
      ...past,
    ],
  };
}

function describeAwaitedEnd(
  { awaitedEnds }: BrokerState,
  { replicaId, machineId }: TaskSummary['replicas'][number],
  now: Instant,
): Reason[] {
  const due = awaitedEnds.get(replicaId);
  return due === undefined
    ? []
    : [{ code: 'replica-end-awaited', replicaId, machineId, leftMs: Math.max(0, due - now) }];
}

function describeReplica(
  { replicaId, machineId, dispatchedAt, startedAt }: TaskSummary['replicas'][number],
  now: Instant,
): Reason {
  return startedAt === 0
    ? { code: 'replica-dispatched', replicaId, machineId, agoMs: Math.max(0, now - dispatchedAt) }
    : { code: 'replica-running', replicaId, machineId, forMs: Math.max(0, now - startedAt) };
}

function describeRests({ replicas }: BrokerState, task: TaskSummary, now: Instant): Reason[] {
  return task.replicas.flatMap(({ replicaId }) => {
    const replica = replicas.get(replicaId);
    return replica === undefined ? [] : describeRest(replica, now);
  });
}

function explainReady({ state, job, task: { taskIndex }, open, past, now }: TaskView): Explanation {
  const waiting = explainWaiting(state, findQueue(job, taskIndex), now);
  return {
    summary: { code: 'task-ready', jobId: job.jobId, taskIndex },
    waiting: waiting.why,
    details: [
      ...explainPlanned(state, job, taskIndex, now),
      ...explainAssignment(job, taskIndex, now),
      ...explainLeasedTask(state, job, taskIndex, now),
      ...waiting.details,
      ...explainChosen(job),
      ...explainAlternatives(state, findQueue(job, taskIndex), now),
      ...(open === undefined ? [] : describeMemories(state, job, { task: open, now })),
      ...past,
    ],
  };
}

function describeMemories(
  state: BrokerState,
  job: BrokerJob,
  { task, now }: { readonly task: OpenTask; readonly now: Instant },
): Reason[] {
  const { failureCount, grown, lossCount, unjudged, stopCount, avoidMachineId } = task;
  const memories: Reason[] = [];
  if (failureCount > 0) memories.push({ code: 'task-failures', failures: failureCount, failuresMax: job.failuresMax });
  if (grown !== undefined)
    memories.push({ code: 'task-given-memory', retries: grown.count, memoryBytes: grown.memory });
  if (lossCount > 0) memories.push({ code: 'task-losses', losses: lossCount, lossesMax: state.options.lossesMax });
  if (unjudged !== undefined && unjudged.length > 0)
    memories.push({ code: 'task-losses-unjudged', losses: unjudged.length });
  if (stopCount > 0) memories.push({ code: 'task-stops', stops: stopCount, stopsMax });
  const machine = state.machines.get(avoidMachineId);
  const until = machine && avoidedUntil({ state, now }, machine, { queue: findQueue(job, task.index), task });
  if (until !== undefined)
    memories.push({ code: 'task-avoids-machine', machineId: avoidMachineId, leftMs: until - now });
  return memories;
}

function explainVerifying({ state, job, task, open, past }: TaskView): Explanation {
  if (open !== undefined && isVotedOn(job)) return explainVotes(state, job, open, past);
  const verifying = task.replicas.find((replica) => replica.isVerifying);
  return {
    summary: {
      code: 'task-verifying',
      jobId: job.jobId,
      taskIndex: task.taskIndex,
      machineId: verifying?.machineId ?? '',
    },
    details: past,
  };
}

function summarizeFinished({ jobId, taskIndex, past, reusedFrom }: TaskSubject): Reason {
  if (reusedFrom !== undefined) {
    const { jobId: fromJobId, fromTaskIndex } = reusedFrom;
    return { code: 'task-reused', jobId, taskIndex, fromJobId, fromTaskIndex };
  }
  const winner = past.find(({ ending }) => ending.disposition === 'accepted');
  if (winner === undefined) return { code: 'task-finished', jobId, taskIndex };
  const { startedAt, endedAt } = winner.ending;
  const { machineId } = winner;
  return { code: 'task-finished', jobId, taskIndex, machineId, tookMs: Math.max(0, endedAt - startedAt) };
}

/** Replicas that were staged ahead and withdrawn are of no interest one by one: they are counted, and come last. */
function describeEnded(past: readonly PastReplica[]): Reason[] {
  const withdrawn = past.filter(({ ending }) => ending.disposition === 'withdrawn');
  if (withdrawn.length < 2) return past.map(describePast);
  const others = past.filter(({ ending }) => ending.disposition !== 'withdrawn');
  return [...others.map(describePast), { code: 'replicas-withdrawn', replicas: withdrawn.length }];
}

function describePast({ machineId, ending }: PastReplica): Reason {
  const { replicaId, disposition, exitStatus, reason, detail, outcome } = ending;
  return {
    code: 'replica-ended',
    replicaId,
    machineId,
    disposition,
    ...(outcome === 'failed' && reason === '' ? { exitStatus } : {}),
    endCode: reason,
    cause: detail,
  };
}
