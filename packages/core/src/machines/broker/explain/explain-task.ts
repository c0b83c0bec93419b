import { stopsMax } from '../../../bag/index.ts';
import type { TakenTask } from '../../../messages/index.ts';
import type { Instant, JobId, MachineId, TaskIndex, UserId } from '../../../shared/index.ts';
import type { ReplicaEnding } from '../changes.ts';
import { avoidedUntil } from '../placing/avoidance.ts';
import { describeGang } from './explain-gang.ts';
import { explainPlace } from './explain-placement.ts';
import { explainPlanned } from './explain-plan.ts';
import { explainScheduling, explainSibling } from './explain-scheduling.ts';
import { explainWaiting } from './explain-waiting.ts';
import type { Explanation } from './explanation.ts';
import { findJobOf } from '../jobs/find-job.ts';
import { explainAdopted, explainLeasedTask } from './explain-lease.ts';
import { explainCancelled, explainUnmet } from './explain-workflow.ts';
import { explainVotes } from './explain-votes.ts';
import { describeRest } from './job-estimate.ts';
import { findTaskSummary, type TaskSummary } from '../queries.ts';
import { describeTime, plural } from './sentences.ts';
import type { BrokerJob, BrokerState, OpenTask } from '../state.ts';
import { findQueue } from '../placement/placed-tasks.ts';
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

/** Says why a task is what it is; undefined where this user has no such task. */
export function explainTask(state: BrokerState, subject: TaskSubject, now: Instant): Explanation | undefined {
  const job = findJobOf(state, subject.userId, subject.jobId);
  const task = job === undefined ? undefined : findTaskSummary(job, subject.taskIndex);
  if (job === undefined || task === undefined) return undefined;
  const past = subject.past.map(describePast);
  const name = `task ${subject.taskIndex} of job ${subject.jobId}`;
  switch (task.status) {
    case 'waiting':
      return explainUnmet(job, { name, task, past: [...explainPlanned(state, job, subject.taskIndex, now), ...past] });
    case 'ready':
      return explainReady(state, job, { name, task, past, now });
    case 'running':
      return explainRunning(state, { job, task, name, past }, now);
    case 'verifying':
      return explainVerifying(state, job, { name, task, past });
    case 'finished':
      return explainFinished(name, subject, past);
    case 'failed':
      return { summary: `${name} failed: ${past.at(-1) ?? 'its records are gone'}`, details: past.slice(0, -1) };
    case 'cancelled':
      return { summary: explainCancelled(job, { name, task, past }), details: past };
  }
}

function explainRunning(
  state: BrokerState,
  { job, task, name, past }: NamedTask & { readonly job: BrokerJob },
  now: Instant,
): Explanation {
  const open = job.tasks.get(task.taskIndex);
  const details = [
    ...describeRests(state, task, now),
    ...explainPlace(job, task.taskIndex, now),
    ...(open === undefined ? [] : explainAdopted(open)),
    ...explainScheduling(state, job, now),
    ...explainSibling(job, open, now),
    ...past,
  ];
  const gang = open?.replicas[0]?.member?.gang;
  return {
    summary: `${name} ${gang === undefined ? `runs on ${describeReplicas(task, now)}` : describeGang(gang, now)}.`,
    details,
  };
}

function describeRests({ replicas }: BrokerState, task: TaskSummary, now: Instant): string[] {
  const rests = task.replicas.map(({ replicaId }) => {
    const replica = replicas.get(replicaId);
    return replica === undefined ? '' : describeRest(replica, now);
  });
  return rests.filter((rest) => rest !== '');
}

interface ReadyTask {
  readonly name: string;
  readonly task: TaskSummary;
  readonly past: readonly string[];
  readonly now: Instant;
}

function explainReady(state: BrokerState, job: BrokerJob, { name, task, past, now }: ReadyTask): Explanation {
  const waiting = explainWaiting(state, findQueue(job, task.taskIndex), now);
  const open = job.tasks.get(task.taskIndex);
  const memories = open === undefined ? [] : describeMemories(state, job, { task: open, now });
  const leased = explainLeasedTask(state, job, task.taskIndex, now);
  return {
    summary: `${name} waits: ${waiting.summary}`,
    details: [
      ...explainPlanned(state, job, task.taskIndex, now),
      ...explainPlace(job, task.taskIndex, now),
      ...leased,
      ...waiting.details,
      ...memories,
      ...past,
    ],
  };
}

function describeMemories(
  state: BrokerState,
  job: BrokerJob,
  { task, now }: { readonly task: OpenTask; readonly now: Instant },
): string[] {
  const memories: string[] = [];
  if (task.failureCount > 0)
    memories.push(`It failed ${task.failureCount} of ${plural(job.failuresMax, 'time')} so far.`);
  if (task.lossCount > 0)
    memories.push(`It was lost or broken ${task.lossCount} of ${plural(state.options.lossesMax, 'time')} so far.`);
  const unjudged = task.unjudged?.length ?? 0;
  if (unjudged > 0)
    memories.push(
      `Of these, ${unjudged} may not count: how ${unjudged === 1 ? 'its allocation' : 'their allocations'} ` +
        'ended is not known yet.',
    );
  if (task.stopCount > 0)
    memories.push(`Its machine was taken away while it ran ${task.stopCount} of ${plural(stopsMax, 'time')} so far.`);
  const machine = state.machines.get(task.avoidMachineId);
  const until = machine && avoidedUntil({ state, now }, machine, { queue: findQueue(job, task.index), task });
  if (until !== undefined) {
    memories.push(
      `It went wrong on ${task.avoidMachineId} last, and waits ${describeTime(until - now)} for another machine ` +
        'before it goes there again.',
    );
  }
  return memories;
}

interface NamedTask {
  readonly name: string;
  readonly task: TaskSummary;
  readonly past: readonly string[];
}

function explainVerifying(state: BrokerState, job: BrokerJob, { name, task, past }: NamedTask): Explanation {
  const open = job.tasks.get(task.taskIndex);
  if (open !== undefined && isVotedOn(job)) return explainVotes(state, job, { name, task: open, past });
  const machines = task.replicas.filter((replica) => replica.isVerifying).map((replica) => replica.machineId);
  return {
    summary: `${name} succeeded on ${machines[0]}; its outputs are being brought home and checked.`,
    details: past,
  };
}

function explainFinished(name: string, { past, reusedFrom }: TaskSubject, sentences: readonly string[]): Explanation {
  if (reusedFrom !== undefined)
    return {
      summary:
        `${name} did not run: it has the result of task ${reusedFrom.fromTaskIndex} of job ${reusedFrom.jobId}, ` +
        'which did the same.',
      details: sentences,
    };
  const winner = past.find(({ ending }) => ending.disposition === 'accepted');
  if (winner === undefined) return { summary: `${name} finished.`, details: sentences };
  const { startedAt, endedAt } = winner.ending;
  return {
    summary: `${name} finished on ${winner.machineId} after ${describeTime(endedAt - startedAt)}.`,
    details: sentences,
  };
}

function describeReplicas({ replicas }: TaskSummary, now: Instant): string {
  return replicas
    .map(({ machineId, placedAt, startedAt }) =>
      startedAt === 0
        ? `${machineId} (placed ${describeTime(now - placedAt)} ago)`
        : `${machineId} (for ${describeTime(now - startedAt)})`,
    )
    .join(' and ');
}

function describePast({ machineId, ending }: PastReplica): string {
  const { replicaId, disposition, exitStatus, reason, detail, outcome } = ending;
  const status = outcome === 'failed' && reason === '' ? ` with exit status ${exitStatus}` : '';
  const why = [reason, detail].filter((text) => text !== '').join(': ');
  return (
    `Replica r${replicaId} on ${machineId} ` +
    `${disposition === 'failed' ? 'failed' : `was ${disposition}`}${status}${why === '' ? '' : ` (${why})`}.`
  );
}
