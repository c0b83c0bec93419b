import { freeProcessors } from '../../bag/index.ts';
import type { ProcessorCount } from '../../shared/index.ts';
import { matchesQueue } from './matching.ts';
import type { BrokerMachine, BrokerState, TaskQueue } from './state.ts';

/**
 * How many processors each of some moldable tasks gets that are placed on a machine together: an equal share of what is free there, when all else that is ready and
 * may run there has what it takes at least, and no more than one can use. Undefined where that is what they take at least: for rigid ones,
 * those that wait for a processor, and those that are planned: a plan counts on what they take at least.
 *
 * It is chosen once: a replica keeps what it has. Cost: O(queues of open jobs) for moldable tasks.
 */
export function chooseWidth(state: BrokerState, machine: BrokerMachine, { queue, count }: { readonly queue: TaskQueue; readonly count: number }): ProcessorCount | undefined {
  const { processors, processorsMax, scheduler } = queue;
  if (processorsMax === processors || count === 0 || scheduler === 'plan') return undefined;
  const share = Math.floor((freeProcessors(machine) - wantedByOthers(state, machine, { queue, count })) / count);
  const width = Math.min(processorsMax, share);
  return width > processors ? width : undefined;
}

function wantedByOthers({ openJobs }: BrokerState, machine: BrokerMachine, { queue, count }: { readonly queue: TaskQueue; readonly count: number }): ProcessorCount {
  let wanted = 0;
  for (const job of openJobs.values()) {
    for (const other of job.queues) {
      const left = other.readyCount - (other === queue ? count : 0);
      if (left > 0 && matchesQueue(other, machine.facts)) wanted += left * other.processors;
    }
  }
  return wanted;
}
