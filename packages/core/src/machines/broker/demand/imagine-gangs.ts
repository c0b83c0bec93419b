import { type BagMachine, countStartable, freeProcessors } from '../../../bag/index.ts';
import type { ProcessorCount } from '../../../shared/index.ts';
import { requireUnits } from './require-units.ts';
import type { BrokerProvider, TaskQueue } from '../state.ts';

/** As much of an imagined machine as gangs need. */
interface HallMachine extends BagMachine {
  readonly provider: BrokerProvider;
  heldProcessors: ProcessorCount;
  readonly taken: Map<TaskQueue, number>;
}

/** As much of an imagined queue. */
interface HallQueue {
  readonly source: TaskQueue;
  readyCount: number;
}

/**
 * Places imagined gangs, each at one provider as in the real dispatch: free processors at two of them do not make one.
 * Cost: O(queues with gangs x machines).
 */
export function imagineGangs<Machine extends HallMachine, Queue extends HallQueue>(
  machines: readonly Machine[],
  queues: readonly Queue[],
  suits: (queue: Queue, machine: Machine) => boolean,
): void {
  for (const queue of queues) {
    const units = requireUnits(queue.source);
    for (const ofProvider of groupByProvider(
      machines.filter((machine) => hasSeat(machine, queue.source) && suits(queue, machine)),
    )) {
      const free = ofProvider.reduce((sum, machine) => sum + freeProcessors(machine), 0);
      let left = Math.min(queue.readyCount, Math.floor(free / units) * units);
      queue.readyCount -= left;
      for (const machine of ofProvider) {
        const taken = Math.min(left, freeProcessors(machine));
        if (taken === 0) continue;
        left -= taken;
        machine.heldProcessors += taken;
        if (queue.source.resources !== undefined) machine.resources?.take(queue.source.resources);
        machine.taken.set(queue.source, (machine.taken.get(queue.source) ?? 0) + taken);
      }
    }
  }
}

/** Whether a member would find a processor there and what it asks for in addition. */
function hasSeat(machine: HallMachine, { resources }: TaskQueue): boolean {
  return countStartable(machine, { processors: 1, resources }) > 0;
}

function groupByProvider<Machine extends HallMachine>(machines: readonly Machine[]): Iterable<readonly Machine[]> {
  const groups = new Map<BrokerProvider, Machine[]>();
  for (const machine of machines) {
    const group = groups.get(machine.provider);
    if (group === undefined) groups.set(machine.provider, [machine]);
    else group.push(machine);
  }
  return groups.values();
}
