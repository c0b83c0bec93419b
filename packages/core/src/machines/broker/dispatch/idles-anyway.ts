import type { BrokerMachine, BrokerProvider } from '../state.ts';
import type { Turn } from '../turn.ts';

/**
 * Whether an idle machine would be held all the same: it is time-shared and stays as long as its owner leaves it, or
 * its provider gives its allocations back only without demand, and runs first replicas in any case. Speculative
 * replicas do not count: no allocation must be held for them. Cost: the provider's replicas, once in a step.
 */
export function idlesAnyway(turn: Turn, { provider, facts: { requestId } }: BrokerMachine): boolean {
  if (requestId === '') return true;
  const known = turn.heldAnyway.get(provider);
  if (known !== undefined) return known;
  const isHeld = runsFirst(provider);
  turn.heldAnyway.set(provider, isHeld);
  return isHeld;
}

/** Whether it runs the eldest replica of a task. */
function runsFirst({ machines }: BrokerProvider): boolean {
  for (const machine of machines.values()) {
    for (const replica of machine.replicas.values())
      if (replica.status !== 'aborting' && replica.task.replicas[0] === replica) return true;
  }
  return false;
}
