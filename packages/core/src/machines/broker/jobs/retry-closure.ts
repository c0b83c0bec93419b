import type { TaskIndex } from '../../../shared/index.ts';
import { isBeingCancelled } from '../apply/apply-job.ts';
import { listPredecessors, listSuccessors } from '../workflow/dependencies.ts';
import type { BrokerJob } from '../state.ts';

/**
 * The tasks that run again when these do, which failed or were cancelled: their predecessors that did not finish
 * either, and the tasks that were cancelled because they wait for them and for nothing else that will not run.
 * Ascending. Cost: O(tasks and edges before and behind them).
 */
export function closeOverEdges(job: BrokerJob, wanted: readonly TaskIndex[]): TaskIndex[] {
  const { dependencies, failed, cancelled, tasks } = job;
  if (dependencies === undefined) return [...wanted];
  const isGivenUp = (index: TaskIndex): boolean => {
    const open = tasks.get(index);
    return failed.has(index) || cancelled.has(index) || (open !== undefined && isBeingCancelled(open));
  };
  const chosen = new Set(wanted);
  for (const index of chosen)
    for (const before of listPredecessors(dependencies, index)) if (isGivenUp(before)) chosen.add(before);
  const mayRun = (index: TaskIndex): boolean =>
    listPredecessors(dependencies, index).every((before) => chosen.has(before) || !isGivenUp(before));
  // A task is checked after each of its predecessors that was chosen, and so again after the last.
  for (const index of chosen) {
    for (const behind of listSuccessors(dependencies, index))
      if (cancelled.has(behind) && mayRun(behind)) chosen.add(behind);
  }
  return [...chosen].sort((one, other) => one - other);
}
