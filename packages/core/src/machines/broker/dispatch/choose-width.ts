import { freeProcessors } from '../../../bag/index.ts';
import type { ProcessorCount } from '../../../shared/index.ts';
import { matchesQueue } from './matching.ts';
import type { BrokerMachine, BrokerState, TaskQueue } from '../state.ts';

/**
 * How many processors each of some moldable tasks gets that are dispatched on a machine together: a share of its free
 * processors, in proportion to the most that it can use among all ready tasks that may run there; no more than it can
 * use, and the others keep the fewest that they take. Undefined if that is the fewest that it takes: for rigid tasks,
 * those that wait for a processor, and planned ones, because a plan counts on the fewest.
 *
 * It is chosen once: a replica keeps what it has. Cost: O(queues of open jobs) for moldable tasks.
 *
 * @source moreira2009, 3.2.2.2:  S'(i) = S*(i), or (S_max / sum S*) S*(i) where sum S* > S_max
 * Symbols: S* = the most processors that a task can use, S_max = the free ones of the machine, S' = the width. Departs
 * from the source: a task is on one machine; the communication between its processors is not known, so that as many as
 * it can use are its best; no processor moves from one task to another afterwards.
 */
export function chooseWidth(
  state: BrokerState,
  machine: BrokerMachine,
  { queue, count }: { readonly queue: TaskQueue; readonly count: number },
): ProcessorCount | undefined {
  const { processors, processorsMax, scheduler } = queue;
  if (processorsMax === processors || count === 0 || scheduler === 'plan') return undefined;
  const free = freeProcessors(machine);
  const others = wantedByOthers(state, machine, { queue, count });
  const share = (processorsMax * free) / (others.most + count * processorsMax);
  const width = Math.floor(Math.min(processorsMax, share, (free - others.least) / count));
  return width > processors ? width : undefined;
}

function wantedByOthers(
  { openJobs }: BrokerState,
  machine: BrokerMachine,
  { queue, count }: { readonly queue: TaskQueue; readonly count: number },
): { readonly least: ProcessorCount; readonly most: ProcessorCount } {
  let [least, most] = [0, 0];
  for (const job of openJobs.values()) {
    for (const other of job.queues) {
      const left = other.readyCount - (other === queue ? count : 0);
      if (left <= 0 || !matchesQueue(other, machine)) continue;
      least += left * other.processors;
      most += left * other.processorsMax;
    }
  }
  return { least, most };
}
