import type { TaskStatus } from '../../../messages/index.ts';
import type { Instant, JobId, UserId } from '../../../shared/index.ts';
import { findQuantiles } from '../../../times/index.ts';
import { explainUsage } from './explain-usage.ts';
import { explainWaiting } from './explain-waiting.ts';
import { explainJobPlacement } from './explain-placement.ts';
import { explainPlannedEnd } from './explain-plan.ts';
import { explainReservation } from './explain-reserved.ts';
import { explainLeasedJob } from './explain-lease.ts';
import { explainScheduling } from './explain-scheduling.ts';
import { explainProgress } from './explain-workflow.ts';
import { type Explanation, listedMax } from './explanation.ts';
import { findJobOf } from '../jobs/find-job.ts';
import { describeEstimate, describeQuantiles, estimateOf } from './job-estimate.ts';
import { describeTime, plural } from './sentences.ts';
import type { BrokerJob, BrokerState } from '../state.ts';

/** Says why a job stands where it does; undefined where this user has none of that number. */
export function explainJob(state: BrokerState, userId: UserId, jobId: JobId, now: Instant): Explanation | undefined {
  const job = findJobOf(state, userId, jobId);
  if (job === undefined) return undefined;
  if (job.endedAt !== 0) return explainEndedJob(state, job);
  return job.status === 'cancelled' ? explainCancelling(job) : explainOpenJob(state, job, now);
}

function explainCancelling(job: BrokerJob): Explanation {
  const why = job.cancelReason || 'no reason given';
  return {
    summary: `job ${job.jobId} was cancelled (${why}); ${plural(job.tasks.size, 'task')} still to be stopped.`,
    details: [],
  };
}

function explainOpenJob(state: BrokerState, job: BrokerJob, now: Instant): Explanation {
  const running = countOpen(job, 'running');
  const details: string[] = [];
  const waiting: Explanation[] = [];
  for (const queue of job.queues) {
    if (queue.readyCount === 0) continue;
    const why = explainWaiting(state, queue, now);
    waiting.push(why);
    details.push(`${plural(queue.readyCount, 'task')} waiting: ${why.summary}`, ...why.details);
    if (waiting.length === listedMax) break;
  }
  details.push(
    ...explainJobPlacement(state, job),
    ...explainProgress(job),
    ...explainReservation(state, job, now),
    ...explainLeasedJob(state, job, now),
  );
  details.push(...explainUsage(job));
  const verifying = countOpen(job, 'verifying');
  if (verifying > 0) details.push(`${plural(verifying, 'result')} being brought home and checked.`);
  details.push(...explainPlannedEnd(state, job, now), ...describeEstimate(estimateOf(state, job, now)));
  if (job.failed.size > 0)
    details.push(`${plural(job.failed.size, 'task')} failed ${plural(job.failuresMax, 'time')} or lost too often.`);
  details.push(...explainScheduling(state, job, now));
  const why = running === 0 && verifying === 0 && waiting[0] !== undefined ? `: ${waiting[0].summary}` : '.';
  return {
    summary:
      `job ${job.jobId}: ${job.finished.size} of ${plural(job.taskCount, 'task')} finished, ${running} ` +
      `running${why}`,
    details,
  };
}

function countOpen(job: BrokerJob, status: TaskStatus): number {
  let count = 0;
  for (const task of job.tasks.values()) if (task.status === status) count++;
  return count;
}

function explainEndedJob(state: BrokerState, job: BrokerJob): Explanation {
  const took = describeTime(job.endedAt - job.submittedAt);
  const details: string[] = [];
  if (job.failed.size > 0)
    details.push(`${plural(job.failed.size, 'task')} failed; see "mutirao task list ${job.jobId} --status failed".`);
  const blocked = explainProgress(job);
  if (blocked.length > 0) details.push(...blocked);
  else if (job.cancelled.size > 0)
    details.push(`${plural(job.cancelled.size, 'task')} cancelled (${job.cancelReason || 'no reason given'}).`);
  if (job.replicaCount > job.taskCount)
    details.push(`${plural(job.replicaCount, 'replica')} were placed for ${plural(job.taskCount, 'task')}.`);
  if (job.reservationOver !== undefined) details.push(...explainReservation(state, job, job.endedAt));
  const times = findQuantiles(job.times);
  if (times !== undefined) details.push(describeQuantiles(times));
  return {
    summary: `job ${job.jobId} ${job.status === 'cancelled' ? 'was cancelled' : job.status} ${took} after its submission.`,
    details,
  };
}
