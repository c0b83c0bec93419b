import { invariant, type TaskIndex } from '../../../shared/index.ts';
import { type Dependencies, listSuccessors } from '../workflow/dependencies.ts';
import type { BrokerJob } from '../state.ts';
import { makeReady, takeReady } from '../jobs/ready-tasks.ts';
import { unassignTask } from '../site-selection/assigned-tasks.ts';

/** Puts a task that must run among the ready ones, or among those that wait for others. */
export function admitTask(job: BrokerJob, index: TaskIndex): void {
  const { dependencies } = job;
  if (dependencies !== undefined && getUnmet(dependencies, index) > 0) dependencies.waiting.add(index);
  else makeReady(job, index);
}

/** Makes ready what waited for nothing but this task, which has finished. Cost: O(successors). */
export function releaseSuccessors(job: BrokerJob, index: TaskIndex): void {
  const { dependencies } = job;
  if (dependencies === undefined) return;
  for (const successor of listSuccessors(dependencies, index)) {
    const unmet = getUnmet(dependencies, successor) - 1;
    invariant(unmet >= 0, `task ${successor} of job ${job.jobId} waits for fewer than no tasks`);
    dependencies.unmet[successor] = unmet;
    // What was cancelled meanwhile stays so.
    if (unmet === 0 && dependencies.waiting.delete(successor)) makeReady(job, successor);
  }
}

/**
 * Cancels all that waits for this task, be it through others: it has failed or was cancelled, so that they cannot run.
 * Cost: O(descendants and their edges).
 */
export function cancelDescendants(job: BrokerJob, index: TaskIndex): void {
  const { dependencies, cancelled } = job;
  if (dependencies === undefined) return;
  const behind = [index];
  for (let task = behind.pop(); task !== undefined; task = behind.pop()) {
    for (const successor of listSuccessors(dependencies, task)) {
      if (!dependencies.waiting.delete(successor)) continue;
      cancelled.add(successor);
      behind.push(successor);
    }
  }
}

/** Whether the result of a finished task may be taken back: nothing that reads it was begun. */
export function isUnread(job: BrokerJob, index: TaskIndex): boolean {
  const { dependencies, tasks, finished } = job;
  return (
    dependencies === undefined ||
    listSuccessors(dependencies, index).every((successor) => !tasks.has(successor) && !finished.has(successor))
  );
}

/** Makes ready successors wait again for this task, which is no longer finished: its result was not read. */
export function holdSuccessors(job: BrokerJob, index: TaskIndex): void {
  const { dependencies } = job;
  if (dependencies === undefined) return;
  for (const successor of listSuccessors(dependencies, index)) {
    dependencies.unmet[successor] = getUnmet(dependencies, successor) + 1;
    if (!takeReady(job, successor)) continue;
    unassignTask(job, successor);
    dependencies.waiting.add(successor);
  }
}

/** Counts again what tasks wait for, by what has finished. */
export function countUnmet({ dependencies, finished }: BrokerJob): void {
  if (dependencies === undefined) return;
  for (const index of finished.values()) {
    for (const successor of listSuccessors(dependencies, index))
      dependencies.unmet[successor] = getUnmet(dependencies, successor) - 1;
  }
}

function getUnmet({ unmet }: Dependencies, index: TaskIndex): number {
  return unmet[index] ?? 0;
}
