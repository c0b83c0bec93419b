import { countTasks } from '@mutirao/core/machines/broker';
import type { JobSpec, TakenTask, TaskGroup } from '@mutirao/core/messages';
import { InvariantError, type JobId, type TaskIndex } from '@mutirao/core/shared';

import { valueAt } from './variables.ts';

/** A task and its job. */
export interface TaskOfJob {
  readonly jobId: JobId;
  readonly taskIndex: TaskIndex;
}

/** The value of a task, which is counted through the groups. */
export function valueOfTask(spec: JobSpec, index: TaskIndex): string {
  const { group, position } = getPosition(spec, index);
  return valueAt(group.values, position);
}

/** The group that a task belongs to. */
export function groupOfTask(spec: JobSpec, index: TaskIndex): TaskGroup {
  return getPosition(spec, index).group;
}

/** Cost: O(groups). */
function getPosition(spec: JobSpec, index: TaskIndex): { readonly group: TaskGroup; readonly position: number } {
  let position = index;
  for (const group of spec.groups) {
    const count = countTasks(group);
    if (position < count) return { group, position };
    position -= count;
  }
  throw new InvariantError(`a job has no task ${index}`);
}

/**
 * Where the result of a task is on record: its own, or the one that was taken over for it. Cost: O(log tasks taken).
 */
export function getOrigin({ resumes }: Pick<JobSpec, 'resumes'>, own: TaskOfJob): TaskOfJob {
  const taken = findTaken(resumes?.tasks ?? [], own.taskIndex);
  return taken === undefined ? own : { jobId: taken.jobId, taskIndex: taken.fromTaskIndex };
}

/** Of tasks by index. */
export function findTaken(tasks: readonly TakenTask[], taskIndex: TaskIndex): TakenTask | undefined {
  let low = 0;
  let high = tasks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((tasks[middle]?.taskIndex ?? Infinity) < taskIndex) low = middle + 1;
    else high = middle;
  }
  return tasks[low]?.taskIndex === taskIndex ? tasks[low] : undefined;
}
