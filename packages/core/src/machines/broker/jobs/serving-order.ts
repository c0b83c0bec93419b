import type { Duration, Instant } from '../../../shared/index.ts';
import type { BrokerJob, BrokerState } from '../state.ts';

/** The least and the most that the priority of a job may be; without one it has 0. */
export const priorityMin = -1000;
/** Likewise the most. */
export const priorityMax = 1000;

/**
 * What a point of priority is worth: a job is served as if it had been submitted an hour earlier. So a job waits behind
 * jobs of a higher priority only if they come within an hour for each point between them, and none starves; and the
 * order of two jobs never changes with time alone.
 */
export const priorityPoint: Duration = 3_600_000;

/** Instant by which jobs are served, the earliest first. */
function getRank({ submittedAt, priority }: Pick<BrokerJob, 'submittedAt' | 'priority'>): Instant {
  return submittedAt - priority * priorityPoint;
}

/** Whether a job is served before another one; of the same priority, the one that was submitted first. */
export function isServedBefore(one: BrokerJob, other: BrokerJob): boolean {
  if (one.priority === other.priority) return one.jobId < other.jobId;
  const [rank, otherRank] = [getRank(one), getRank(other)];
  return rank === otherRank ? one.jobId < other.jobId : rank < otherRank;
}

/** Puts a job among those that have not ended, where it is served. Cost: O(open jobs) unless it is the last. */
export function insertOpenJob(state: BrokerState, job: BrokerJob): void {
  const { openJobs, lastServed } = state;
  openJobs.delete(job.jobId);
  const isLast =
    lastServed !== undefined && openJobs.get(lastServed.jobId) === lastServed && isServedBefore(lastServed, job);
  if (isLast || openJobs.size === 0) {
    openJobs.set(job.jobId, job);
    state.lastServed = job;
    return;
  }
  const later = [...openJobs.values()].filter((open) => isServedBefore(job, open));
  openJobs.set(job.jobId, job);
  for (const open of later) {
    openJobs.delete(open.jobId);
    openJobs.set(open.jobId, open);
  }
  state.lastServed = later.at(-1) ?? job;
}

/** How many more replicas of a job may be sent to machines now. */
export function getRoom({ runningMax, onMachines }: Pick<BrokerJob, 'runningMax' | 'onMachines'>): number {
  return runningMax === undefined ? Infinity : Math.max(0, runningMax - onMachines);
}
