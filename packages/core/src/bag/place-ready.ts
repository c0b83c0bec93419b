import { type BagMachine, type BagQueue, freeProcessors } from './bag.ts';

/** What placing needs to know and to do; `place` changes what machine and queue say of themselves. */
export interface PlacementPort<Machine extends BagMachine, Queue extends BagQueue> {
  matches(queue: Queue, machine: Machine): boolean;
  /** Replicas that may wait at the machine beyond those that it runs. */
  prefetchDepth(queue: Queue, machine: Machine): number;
  /** Places up to `countMax` tasks of the queue on the machine, and says how many. */
  place(machine: Machine, queue: Queue, countMax: number): number;
}

/**
 * Hands ready tasks to machines: to every free processor first, and what is left to the queues of the machines, evenly.
 *
 * One visit per machine serves both, so that a machine gets one batch: a machine's queue is filled only with what the free
 * processors of the machines after it leave. Cost: O(machines x queues + tasks placed).
 *
 * @param queues in the order in which they are served.
 */
export function placeReady<Machine extends BagMachine, Queue extends BagQueue>(
  machines: readonly Machine[], queues: readonly Queue[], port: PlacementPort<Machine, Queue>,
): void {
  let ready = 0;
  for (const queue of queues) ready += queue.readyCount;
  let freeLater = 0;
  for (const machine of machines) freeLater += freeProcessors(machine);
  for (let index = 0; index < machines.length && ready > 0; index++) {
    const machine = machines[index] as Machine;
    freeLater -= freeProcessors(machine);
    const share = { ready, freeLater, machinesLeft: machines.length - index };
    ready -= fillMachine(machine, queues, share, port);
  }
}

interface Share {
  /** Ready tasks of all queues. */
  readonly ready: number;
  /** Free processors of the machines that are served later. */
  readonly freeLater: number;
  readonly machinesLeft: number;
}

function fillMachine<Machine extends BagMachine, Queue extends BagQueue>(
  machine: Machine, queues: readonly Queue[], share: Share, port: PlacementPort<Machine, Queue>,
): number {
  let placed = 0;
  for (const queue of queues) {
    if (queue.readyCount === 0 || !port.matches(queue, machine)) continue;
    const countMax = quotaOf(machine, queue, { ...share, ready: share.ready - placed }, port.prefetchDepth(queue, machine));
    if (countMax > 0) placed += port.place(machine, queue, countMax);
  }
  return placed;
}

/** How many tasks of the queue the machine should get now. */
function quotaOf(machine: BagMachine, queue: BagQueue, share: Share, depth: number): number {
  const slots = Math.floor(freeProcessors(machine) / queue.processors);
  const capacity = machine.processors + depth * queue.processors;
  const room = Math.floor((capacity - machine.heldProcessors) / queue.processors) - slots;
  const spare = share.ready - slots - Math.ceil(share.freeLater / queue.processors);
  if (room <= 0 || spare <= 0) return slots;
  return slots + Math.min(room, Math.ceil(spare / share.machinesLeft));
}
