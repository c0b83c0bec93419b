import type { Reason } from '../../../reasons/index.ts';
import type { Instant, TaskIndex } from '../../../shared/index.ts';
import { reportLeasesAgain } from '../leases/grant-leases.ts';
import type { BrokerJob } from '../state.ts';
import { commit, wakeBy, type Turn } from '../turn.ts';
import { cancelReplicas, stopJob } from './cancel-job.ts';
import { hasStarted } from './end-jobs.ts';

/** Lets jobs begin whose time has come, and cancels what has not started of those whose time is over. */
export function followTimes(turn: Turn): void {
  const { now } = turn;
  for (const job of [...turn.state.timedJobs]) {
    const { jobId, beginAt, expireAt } = job;
    if (expireAt !== undefined && expireAt <= now) expire(turn, job, expireAt);
    else if (expireAt !== undefined) wakeBy(turn, expireAt);
    if (beginAt === undefined || job.status !== 'running') continue;
    if (beginAt > now) wakeBy(turn, beginAt);
    else commit(turn, { kind: 'BeginReached', jobId, at: now });
  }
}

function expire(turn: Turn, job: BrokerJob, expireAt: Instant): void {
  const { jobId } = job;
  commit(turn, { kind: 'JobExpired', jobId, at: turn.now });
  if (job.status !== 'running') return;
  if (job.takesTasks) commit(turn, { kind: 'JobClosed', jobId, at: turn.now });
  const reason: Reason = { code: 'job-expired', expireUnixMs: expireAt };
  const taskIndexes = listUnstarted(job);
  if (taskIndexes.length === 0) return;
  if (!hasStarted(job)) {
    stopJob(turn, job, reason);
    return;
  }
  for (const index of taskIndexes) {
    const open = job.tasks.get(index);
    if (open !== undefined) cancelReplicas(turn, open);
  }
  commit(turn, { kind: 'TasksCancelled', jobId, taskIndexes, reason, at: turn.now });
  reportLeasesAgain(turn.state, job);
}

/** Tasks that have not ended and of which nothing has ever begun, ascending. Cost: O(tasks of the job). */
function listUnstarted({ taskCount, tasks, finished, failed, cancelled }: BrokerJob): TaskIndex[] {
  const indexes: TaskIndex[] = [];
  for (let index = 0; index < taskCount; index++) {
    if (finished.has(index) || failed.has(index) || cancelled.has(index)) continue;
    const open = tasks.get(index);
    if (open?.hasStarted !== true && open?.isCancelled !== true) indexes.push(index);
  }
  return indexes;
}
