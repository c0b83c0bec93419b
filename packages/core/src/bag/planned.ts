import { type BagMachine, type BagQueue, freeProcessors } from './bag.ts';
import { dispatchReady } from './dispatch-ready.ts';
import type { BagScheduler, SchedulingPort } from './scheduler.ts';

/**
 * Follows a plan of the whole grid; tasks that cannot be planned, because their time is unknown or too short, are
 * dispatched as in a workqueue.
 *
 * Neither kind overtakes the other: adjacent queues of one kind are placed together, and the next get the machines that
 * these leave. Cost: that of `dispatchReady` and of following the plan, and O(machines) for each change from one to the
 * other.
 *
 * @source moreira2009, 3.1, the dynamic method in batch mode. Departs from the source: on machines that come and go,
 *   with times that are estimates.
 */
export const planned: BagScheduler = { name: 'plan', replication: 'everywhere', dispatch: dispatchByPlan };

function dispatchByPlan<Machine extends BagMachine, Queue extends BagQueue>(
  machines: readonly Machine[],
  queues: readonly Queue[],
  port: SchedulingPort<Machine, Queue>,
): ReadonlySet<Machine> {
  const kept = new Set<Machine>();
  let open = machines;
  for (let from = 0; from < queues.length; ) {
    const isPlanned = port.isPlanned(queues[from] as Queue);
    let end = from + 1;
    while (end < queues.length && port.isPlanned(queues[end] as Queue) === isPlanned) end++;
    const together = queues.slice(from, end);
    for (const machine of isPlanned ? port.dispatchPlanned(open, together) : dispatchReady(open, together, port))
      kept.add(machine);
    from = end;
    if (from < queues.length)
      open = open.filter((machine) => !kept.has(machine) && (freeProcessors(machine) > 0 || isPlanned));
  }
  return kept;
}
