import type { Reason } from '../../../reasons/index.ts';
import type { TaskStatus } from '../../../messages/index.ts';
import type { Instant, JobId, UserId } from '../../../shared/index.ts';
import { findQuantiles } from '../../../times/index.ts';
import { explainUsage } from './explain-usage.ts';
import { explainWaiting } from './explain-waiting.ts';
import { explainJobSiteSelection } from './explain-site-selection.ts';
import { explainPlannedEnd } from './explain-plan.ts';
import { explainExpiry, explainGates } from './explain-gates.ts';
import { explainReservation } from './explain-reserved.ts';
import { explainLeasedJob } from './explain-lease.ts';
import { explainScheduling } from './explain-scheduling.ts';
import { explainProgress } from './explain-workflow.ts';
import { type Explanation, type Waiting, listedMax } from './explanation.ts';
import { findUserJob } from '../jobs/find-job.ts';
import { describeEstimate, describeQuantiles, estimateJob } from './job-estimate.ts';
import type { BrokerJob, BrokerState } from '../state.ts';

/** Explains the status of a job; undefined if this user has none of that number. */
export function explainJob(state: BrokerState, userId: UserId, jobId: JobId, now: Instant): Explanation | undefined {
  const job = findUserJob(state, userId, jobId);
  if (job === undefined) return undefined;
  if (job.endedAt !== 0) return explainEndedJob(state, job);
  return job.status === 'cancelled' ? explainCancelling(job) : explainOpenJob(state, job, now);
}

function explainCancelling({ jobId, cancelReason, tasks }: BrokerJob): Explanation {
  return { summary: { code: 'job-cancelling', jobId, cause: cancelReason, openTasks: tasks.size }, details: [] };
}

function explainOpenJob(state: BrokerState, job: BrokerJob, now: Instant): Explanation {
  const [running, verifying] = [countOpen(job, 'running'), countOpen(job, 'verifying')];
  const gates = explainGates(state, job, now);
  const waits = explainQueues(state, job, now);
  const [first] = waits;
  const isIdle = running === 0 && verifying === 0;
  const why = first?.why ?? gates[0];
  const details: Reason[] = [
    ...(first === undefined && isIdle ? gates.slice(1) : gates),
    ...explainExpiry(job, now),
    ...waits.flatMap((wait) => [wait.tasks, ...(wait === first && isIdle ? [] : [wait.why]), ...wait.details]),
    ...(job.takesTasks ? [{ code: 'job-open', jobId: job.jobId } as const] : []),
    ...explainJobSiteSelection(state, job),
    ...explainProgress(job),
    ...explainReservation(state, job, now),
    ...explainLeasedJob(state, job, now),
    ...explainUsage(job),
    ...(verifying > 0 ? [{ code: 'tasks-verifying', tasks: verifying } as const] : []),
    ...explainPlannedEnd(state, job, now),
    ...describeEstimate(estimateJob(state, job, now)),
    ...describeFailed(job),
    ...explainScheduling(state, job, now),
  ];
  const summary: Reason = {
    code: 'job-progress',
    jobId: job.jobId,
    tasks: job.taskCount,
    finishedTasks: job.finished.size,
    runningTasks: running,
  };
  return why === undefined || !isIdle ? { summary, details } : { summary, waiting: why, details };
}

function explainQueues(
  state: BrokerState,
  job: BrokerJob,
  now: Instant,
): readonly (Waiting & { readonly tasks: Reason })[] {
  return job.queues
    .filter(({ ready }) => ready.size > 0)
    .slice(0, listedMax)
    .map((queue) => ({
      tasks: { code: 'tasks-waiting', tasks: queue.ready.size },
      ...explainWaiting(state, queue, now),
    }));
}

function describeFailed({ failed, failuresMax }: BrokerJob): Reason[] {
  return failed.size === 0 ? [] : [{ code: 'tasks-failed', tasks: failed.size, failuresMax }];
}

function countOpen(job: BrokerJob, status: TaskStatus): number {
  let count = 0;
  for (const task of job.tasks.values()) if (task.status === status) count++;
  return count;
}

function explainEndedJob(state: BrokerState, job: BrokerJob): Explanation {
  const { jobId, failed, cancelled, cancelReason, replicaCount, taskCount } = job;
  const details: Reason[] = [];
  if (failed.size > 0) details.push({ code: 'tasks-failed-listed', tasks: failed.size, jobId });
  const blocked = explainProgress(job);
  if (blocked.length > 0) details.push(...blocked);
  else if (cancelled.size > 0) details.push({ code: 'tasks-cancelled', tasks: cancelled.size, cause: cancelReason });
  if (replicaCount > taskCount) details.push({ code: 'replicas-started', replicas: replicaCount, tasks: taskCount });
  if (job.reservationOver !== undefined) details.push(...explainReservation(state, job, job.endedAt));
  const times = findQuantiles(job.times);
  if (times !== undefined) details.push(describeQuantiles(times));
  return {
    summary: { code: 'job-ended', jobId, status: job.status, afterMs: Math.max(0, job.endedAt - job.submittedAt) },
    details,
  };
}
