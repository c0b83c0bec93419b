import { type BagMachine, type BagQueue, freeProcessors } from './bag.ts';
import { findScheduler } from './find-scheduler.ts';
import type { BagScheduler, SchedulingPort } from './scheduler.ts';

/**
 * Hands the ready tasks of all jobs to machines, each job by its own scheduler, the jobs in the order of their
 * submission.
 *
 * Queues that follow each other and are dispatched alike are dispatched together; what is behind them gets the machines
 * that they leave. Cost: that of the schedulers, and O(machines x queues) more for each change from one way of
 * dispatching to another.
 *
 * @param queues in the order of submission.
 * @returns machines whose free processors are kept for a task that is too wide for them.
 */
export function dispatchQueues<Machine extends BagMachine, Queue extends BagQueue>(
  machines: readonly Machine[],
  queues: readonly Queue[],
  port: SchedulingPort<Machine, Queue>,
): ReadonlySet<Machine> {
  const kept = new Set<Machine>();
  let open = machines;
  let from = 0;
  while (from < queues.length) {
    const { scheduler, end } = findStretch(queues, from);
    const together = from === 0 && end === queues.length ? queues : queues.slice(from, end);
    for (const machine of scheduler.dispatch(open, together, port)) kept.add(machine);
    from = end;
    if (from < queues.length)
      open = open.filter((machine) => !kept.has(machine) && isOpenBehind(machine, together, port));
  }
  return kept;
}

/** The queues from `from` on that are dispatched alike. */
function findStretch(
  queues: readonly BagQueue[],
  from: number,
): { readonly scheduler: BagScheduler; readonly end: number } {
  const scheduler = findScheduler((queues[from] as BagQueue).scheduler);
  let end = from + 1;
  while (end < queues.length && findScheduler((queues[end] as BagQueue).scheduler).dispatch === scheduler.dispatch)
    end++;
  return { scheduler, end };
}

/** Nothing of a later queue waits at a busy machine before what is left of an earlier one. */
function isOpenBehind<Machine extends BagMachine, Queue extends BagQueue>(
  machine: Machine,
  earlier: readonly Queue[],
  port: SchedulingPort<Machine, Queue>,
): boolean {
  return freeProcessors(machine) > 0 || !earlier.some((queue) => queue.readyCount > 0 && port.matches(queue, machine));
}
