import { bLevels } from './levels.ts';
import { meanCosts, Placing } from './placing.ts';
import type { WorkflowScheduler } from './scheduling-problem.ts';
import type { WorkflowTask } from './workflow.ts';

/**
 * HEFT: tasks by falling b-level, each to the processor on which it ends first, into a hole if one is long enough.
 *
 * Cost: O(tasks^2 x processors) at worst.
 *
 * @source moreira2009, 3.2.1.2, after Topcuoglu, Hariri and Wu 2002: EST(i, j) = max(avail_j, max over predecessors m
 *   of (AFT(m) + c(m, i))), EFT(i, j) = w(i, j) + EST(i, j)
 * Departs from the source: equal b-levels are taken in topological order, so that tasks without cost do not overtake
 * what they wait for; a rigid task of several processors gets those that are free first, behind what is placed on them.
 */
export const heft: WorkflowScheduler = {
  name: 'heft',
  schedule(problem) {
    const placing = new Placing(problem);
    const levels = bLevels(problem.workflow, meanCosts(problem));
    const order = problem.workflow.order.toSorted((one, other) => (levels[other] as number) - (levels[one] as number));
    for (const task of order) if (placing.find(task) === undefined) placeEarliest(placing, task);
    return placing.finish('heft');
  },
};

/** Places a task where it ends first. */
export function placeEarliest(placing: Placing, task: number): void {
  if ((placing.problem.workflow.tasks[task] as WorkflowTask).widthMin > 1) {
    placing.accept(task, placing.gangOffer(task), 'earliest-finish');
    return;
  }
  const { best, second } = placing.bestOffers(task, true);
  placing.accept(task, best, 'earliest-finish', second);
}
