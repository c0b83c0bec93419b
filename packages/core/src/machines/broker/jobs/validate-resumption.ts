import type { JobSpec } from '../../../messages/index.ts';
import type { Refusal } from '../../../reasons/index.ts';
import { countTasks } from './task-groups.ts';

/**
 * Finds a fault in the tasks that a job reuses: tasks by index, and with each its predecessors. Cost: O(tasks taken +
 * edges).
 */
export function findResumptionFault({ resumes, groups, edges = [] }: JobSpec): Refusal | undefined {
  if (resumes === undefined) return undefined;
  const taskCount = groups.reduce((sum, group) => sum + countTasks(group), 0);
  const taken = new Set<number>();
  let last = -1;
  for (const { taskIndex } of resumes.tasks) {
    if (!Number.isInteger(taskIndex) || taskIndex <= last || taskIndex >= taskCount)
      return {
        code: 'MUT_BAD_REQUEST',
        fault: { code: 'resumption-order-invalid', taskIndex, previousIndex: last, tasks: taskCount },
      };
    taken.add((last = taskIndex));
  }
  const open = edges.find(({ from, to }) => taken.has(to) && !taken.has(from));
  return open === undefined
    ? undefined
    : {
        code: 'MUT_BAD_REQUEST',
        fault: { code: 'resumption-incomplete', taskIndex: open.to, predecessorIndex: open.from },
      };
}
