import { getCapacity } from '../../../messages/index.ts';
import { FreeResources } from '../../../resources/index.ts';
import { invariant } from '../../../shared/index.ts';
import type { BrokerMachine, BrokerReplica } from '../state.ts';

/**
 * Takes a replica's resources from its machine. Behind a replica that waits there it waits too: a machine starts its
 * replicas in order.
 */
export function takeResources(replica: BrokerReplica): void {
  const { resources, machine } = replica;
  if (resources === undefined) return;
  if (machine.short.size === 0) replica.assignment = machine.resources.take(resources);
  if (replica.assignment === undefined) machine.short.add(replica);
}

/** Gives back what a replica took of its machine, to those that wait for it there. */
export function releaseResources(replica: BrokerReplica): void {
  const { resources, machine, assignment } = replica;
  if (resources === undefined) return;
  machine.short.delete(replica);
  if (assignment !== undefined) machine.resources.release(assignment);
  replica.assignment = undefined;
  takeInOrder(machine);
}

/** Counts again what the replicas of a machine hold that has now something else than before. */
export function recountResources(machine: BrokerMachine): void {
  machine.resources = new FreeResources(getCapacity(machine.facts));
  machine.short.clear();
  for (const replica of machine.replicas.values()) {
    const { assignment } = replica;
    replica.assignment = undefined;
    if (replica.resources === undefined) continue;
    if (assignment !== undefined && machine.resources.takeAgain(assignment)) replica.assignment = assignment;
    else machine.short.add(replica);
  }
  takeInOrder(machine);
}

function takeInOrder({ short, resources: free }: BrokerMachine): void {
  for (const replica of short) {
    const { resources } = replica;
    if (resources !== undefined) replica.assignment = free.take(resources);
    if (replica.assignment === undefined) return;
    short.delete(replica);
  }
}

/**
 * Checks that what replicas hold of a machine is what it has not free, and no more than it has. @throws
 * {InvariantError}
 */
export function checkResources(machine: BrokerMachine): void {
  const name = `machine ${machine.facts.machineId}`;
  machine.resources.check(name);
  const trial = new FreeResources(machine.resources.capacity);
  for (const replica of machine.replicas.values()) {
    const { replicaId, resources, assignment } = replica;
    invariant(
      (resources !== undefined && assignment === undefined) === machine.short.has(replica),
      () => `replica ${replicaId} waits for resources of ${name}, or says so and does not`,
    );
    if (assignment === undefined) continue;
    invariant(trial.takeAgain(assignment), () => `${name} is over-committed by replica ${replicaId}`);
  }
  invariant(trial.isSameAs(machine.resources), () => `${name} counts as free what is not, or the other way round`);
}
