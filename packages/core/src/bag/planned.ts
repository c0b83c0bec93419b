import { type BagMachine, type BagQueue, freeProcessors } from './bag.ts';
import { dispatchReady } from './dispatch-ready.ts';
import type { BagScheduler, SchedulingPort } from './scheduler.ts';

/**
 * Follows a plan of the whole grid; what cannot be planned, since nobody knows how long it takes or since it is over in
 * no time, is handed out as a workqueue does.
 *
 * Neither overtakes the other: queues that follow each other and are alike in this are placed together, the others get
 * the machines that these leave. Cost: that of
 * `dispatchReady` and of following the plan, and O(machines) for each change from one to the other.
 *
 * @source moreira2009, 3.1, the dynamic method in batch mode. Departs from the source: on machines that come and go,
 * with times that are estimates.
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
