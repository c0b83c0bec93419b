import { countTasks } from '@mutirao/core/machines/broker';
import type { JobSpec, TaskGroup } from '@mutirao/core/messages';
import { InvariantError, type TaskIndex } from '@mutirao/core/shared';

import { valueAt } from './variables.ts';

/** The value of a task, which is counted through the groups. */
export function valueOfTask(spec: JobSpec, index: TaskIndex): string {
  const { group, position } = positionOf(spec, index);
  return valueAt(group.values, position);
}

/** The group that a task belongs to. */
export function groupOfTask(spec: JobSpec, index: TaskIndex): TaskGroup {
  return positionOf(spec, index).group;
}

/** Cost: O(groups). */
function positionOf(spec: JobSpec, index: TaskIndex): { readonly group: TaskGroup; readonly position: number } {
  let position = index;
  for (const group of spec.groups) {
    const count = countTasks(group);
    if (position < count) return { group, position };
    position -= count;
  }
  throw new InvariantError(`a job has no task ${index}`);
}
