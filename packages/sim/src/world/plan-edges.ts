import type { TaskEdge } from '@mutirao/core/messages';
import { Prng, type TaskIndex } from '@mutirao/core/shared';
import type { JobPlan } from './scenario.ts';

/**
 * The tasks that one waits for, ascending: drawn by its index alone, so that a job that is cut short keeps what is left
 * of its edges.
 */
export function predecessorsIn(
  { predecessorsMax = 0 }: Pick<JobPlan, 'predecessorsMax'>,
  taskIndex: TaskIndex,
): TaskIndex[] {
  if (predecessorsMax === 0 || taskIndex === 0) return [];
  const rng = new Prng(`predecessors of task ${taskIndex}`);
  const count = rng.below(predecessorsMax + 1);
  const before = new Set(Array.from({ length: count }, () => rng.below(taskIndex)));
  return [...before].sort((one, other) => one - other);
}

/** What the tasks of a plan wait for. */
export function getEdges(plan: Pick<JobPlan, 'predecessorsMax' | 'taskCount'>): TaskEdge[] {
  return Array.from({ length: plan.taskCount }, (_, to) =>
    predecessorsIn(plan, to).map((from): TaskEdge => ({ from, to })),
  ).flat();
}

/** Where a task has what another one wrote. */
export function readPath(before: TaskIndex): string {
  return `from-${before}`;
}
