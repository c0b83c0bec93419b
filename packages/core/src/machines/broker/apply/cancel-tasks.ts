import type { TaskIndex } from '../../../shared/index.ts';
import type { ChangeOf } from '../changes.ts';
import { takeReady } from '../jobs/ready-tasks.ts';
import { unassignTask } from '../site-selection/assigned-tasks.ts';
import type { BrokerJob, BrokerState, OpenTask } from '../state.ts';
import { cancelDescendants } from './apply-dependencies.ts';
import { abortFollowers } from './apply-gang.ts';
import { getJob } from './apply-job.ts';

/**
 * Cancels tasks that are ready or wait, and what waits for them. Those on machines stay open until their last replica
 * has ended; a result that is being verified is still settled.
 */
export function cancelTasks(state: BrokerState, { jobId, taskIndexes, reason }: ChangeOf<'TasksCancelled'>): void {
  const job = getJob(state, jobId);
  // Words of a user are in the journal alone, as they are about these tasks only.
  if (typeof reason !== 'string') job.cancelReason = reason;
  for (const index of taskIndexes) {
    const open = job.tasks.get(index);
    if (open === undefined || open.status === 'ready') cancelIdle(job, index);
    else abortTask(open);
  }
}

/** A task may have been cancelled a moment ago, behind another one of the list. */
function cancelIdle(job: BrokerJob, index: TaskIndex): void {
  if (!takeReady(job, index) && job.dependencies?.waiting.delete(index) !== true) return;
  const open = job.tasks.get(index);
  if (open !== undefined) open.status = 'cancelled';
  job.tasks.delete(index);
  unassignTask(job, index);
  job.cancelled.add(index);
  cancelDescendants(job, index);
}

function abortTask(task: OpenTask): void {
  task.isCancelled = true;
  for (const replica of task.replicas) {
    replica.status = 'aborting';
    replica.abortDisposition = 'cancelled';
    abortFollowers(replica, 'cancelled');
  }
}
