import type { ResourceRequest } from '../resources/index.ts';
import type { ProcessorCount } from '../shared/index.ts';
import type { IdleSlots } from './idle-slots.ts';
import type { BagMachine } from './bag.ts';

/** A replica as withdrawing sees it. */
export interface WithdrawableReplica {
  readonly processors: ProcessorCount;
  /** What it holds in addition; undefined or left out for nothing. */
  readonly resources?: ResourceRequest | undefined;
  /** It has waited long enough, is still wanted, and was not reported as started. */
  readonly isWaiting: boolean;
  /** It was asked back already, and its answer is awaited. */
  readonly isWithdrawing: boolean;
}

/** What withdrawing needs to know; the replicas of a machine are in the order in which it starts them. */
export interface WithdrawalPort<Machine extends BagMachine, Replica extends WithdrawableReplica> {
  listReplicas(machine: Machine): Iterable<Replica>;
  matches(replica: Replica, machine: Machine): boolean;
}

/**
 * Chooses replicas to ask back from the queues of busy machines, because other machines idle that can run them.
 *
 * Takes from the longest queue first, its last ones first, never more than the idle processors can take at once; those
 * that were asked back before count. It takes their processors out of `idle`. Cost: the replicas at machines with a
 * queue.
 */
export function chooseWithdrawals<Machine extends BagMachine, Replica extends WithdrawableReplica>(
  machines: readonly Machine[],
  idle: IdleSlots<Machine>,
  port: WithdrawalPort<Machine, Replica>,
): Replica[] {
  const chosen: Replica[] = [];
  const donors = machines.filter((machine) => machine.heldProcessors > machine.processors);
  donors.sort((one, other) => other.heldProcessors - other.processors - (one.heldProcessors - one.processors));
  for (const donor of donors) {
    for (const replica of queuedReplicas(donor, port.listReplicas(donor)).reverse()) {
      if (idle.isEmpty) return chosen;
      if (!replica.isWithdrawing && !replica.isWaiting) continue;
      const taker = idle.take(replica, (machine) => port.matches(replica, machine));
      if (taker !== undefined && !replica.isWithdrawing) chosen.push(replica);
    }
  }
  return chosen;
}

/** Those that do not fit on the machine's processors together with the ones before them. */
function queuedReplicas<Replica extends WithdrawableReplica>(
  machine: BagMachine,
  replicas: Iterable<Replica>,
): Replica[] {
  const queued: Replica[] = [];
  let held = 0;
  for (const replica of replicas) {
    held += replica.processors;
    if (held > machine.processors) queued.push(replica);
  }
  return queued;
}
