import type { JobSpec, TaskGroup, Values } from '../messages/index.ts';
import type { TaskIndex } from '../shared/index.ts';

/** A task as its spec says it. */
export interface ListedTask {
  readonly index: TaskIndex;
  readonly group: TaskGroup;
  readonly value: string;
}

/** All tasks of a job, in the order of their indexes. Cost: O(tasks). */
export function listTasks({ groups }: Pick<JobSpec, 'groups'>): ListedTask[] {
  const tasks: ListedTask[] = [];
  for (const group of groups)
    for (const value of listValues(group.values)) tasks.push({ index: tasks.length, group, value });
  return tasks;
}

function listValues(values: Values): readonly string[] {
  return values.kind === 'list'
    ? values.values
    : Array.from({ length: values.count }, (_, position) => String(values.first + position * values.step));
}
