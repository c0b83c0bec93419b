import type { Instant } from '../../../shared/index.ts';
import { isDraining } from '../machines/takes-work.ts';
import { matchesQueue } from './matching.ts';
import { type BrokerMachine, type BrokerState, isHere, type OpenTask, type TaskQueue } from '../state.ts';

/**
 * Until when a task keeps away from the machine where it went wrong last, so that another one may try it; undefined
 * when it
 * does not: it went wrong elsewhere or long enough ago, or no other machine would do.
 */
export function avoidedUntil(
  at: { readonly state: BrokerState; readonly now: Instant },
  machine: BrokerMachine,
  { task, queue }: { readonly task: OpenTask | undefined; readonly queue: TaskQueue },
): Instant | undefined {
  if (task === undefined || task.avoidMachineId !== machine.facts.machineId) return undefined;
  // The clock was set back since, by an unknown amount.
  if (task.avoidSince > at.now) return undefined;
  const until = task.avoidSince + at.state.options.retryElsewhere;
  return until > at.now && hasOtherMachine(at.state, queue, machine) ? until : undefined;
}

function hasOtherMachine(state: BrokerState, queue: TaskQueue, machine: BrokerMachine): boolean {
  for (const other of state.machines.values()) {
    if (
      other !== machine &&
      isHere(other) &&
      !isDraining(other.provider) &&
      other.breakages === 0 &&
      matchesQueue(queue, other)
    )
      return true;
  }
  return false;
}
