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

/** By list of groups, where each group begins, and where the last one ends; the list of an open job grows. */
const knownStarts = new WeakMap<readonly TaskGroup[], number[]>();

function getStarts(groups: readonly TaskGroup[]): readonly number[] {
  let starts = knownStarts.get(groups);
  if (starts === undefined) knownStarts.set(groups, (starts = [0]));
  for (const group of groups.slice(starts.length - 1)) starts.push((starts.at(-1) ?? 0) + countTasks(group));
  return starts;
}

/** Cost: O(log groups) but for the first time. */
function getPosition({ groups }: JobSpec, index: TaskIndex): { readonly group: TaskGroup; readonly position: number } {
  const starts = getStarts(groups);
  let low = 0;
  let high = groups.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((starts[middle] ?? Infinity) <= index) low = middle;
    else high = middle - 1;
  }
  const group = groups[low];
  const position = index - (starts[low] ?? 0);
  if (group === undefined || position < 0 || position >= countTasks(group))
    throw new InvariantError(`a job has no task ${index}`);
  return { group, position };
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
