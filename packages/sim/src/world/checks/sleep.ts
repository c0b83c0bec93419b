import type { BrokerChange, BrokerCommand, BrokerState } from '@mutirao/core/machines/broker';
import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';

/** No process sleeps through something: woken where nothing wakes it, it finds nothing to do. */
export class SleepCheck implements WorldCheck {
  readonly #world: World;
  #count = 0;

  constructor(world: World) {
    this.#world = world;
  }

  look(): void {
    const processes = this.#world.processes();
    this.#count += 1;
    const { broker } = this.#world;
    const awake = processes[this.#count % processes.length];
    awake?.process.wakeForNothing(
      (action, actions) =>
        awake === broker.current &&
        isForLater(broker.current.process.state, action as BrokerChange | BrokerCommand, actions),
    );
  }
}

/**
 * A broker serves machines in one pass: the queue of a busy one may be filled by whatever comes next, since no machine
 * waits for it.
 */
function isForLater(
  state: BrokerState,
  action: BrokerChange | BrokerCommand,
  actions: readonly { readonly kind: string }[],
): boolean {
  // These go with placed replicas, which are checked by themselves: their delegated tasks are revoked, and others
  // leased instead.
  if (action.kind === 'RevokeLease') return true;
  if (action.kind === 'LeaseGranted' || action.kind === 'GrantLease')
    return actions.some(({ kind }) => kind === 'RevokeLease');
  // The demand of a provider covers replicas that wait at its machines: it rises with those sent there, and not
  // otherwise.
  if (action.kind === 'SetDemand') {
    const { providerId } = action;
    return (actions as readonly BrokerCommand[]).some(
      (other) =>
        other.kind === 'StartReplicas' &&
        state.machines.get(other.machineId)?.provider.providerId === providerId &&
        isForLater(state, other, actions),
    );
  }
  if (action.kind !== 'ReplicasDispatched' && action.kind !== 'StartReplicas') return false;
  const machine = state.machines.get(action.machineId);
  const job = state.jobs.get(action.jobId);
  if (machine === undefined || job === undefined) return false;
  const count = action.kind === 'ReplicasDispatched' ? action.taskIndexes.length : action.starts.length;
  return machine.heldProcessors - count * job.processors >= machine.processors;
}
