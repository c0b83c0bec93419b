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
      (deed, deeds) =>
        awake === broker.current &&
        isForLater(broker.current.process.state, deed as BrokerChange | BrokerCommand, deeds),
    );
  }
}

/**
 * A broker serves machines in one pass: the queue of a busy one may be filled by whatever comes next, since nobody
 * waits for it.
 */
function isForLater(
  state: BrokerState,
  deed: BrokerChange | BrokerCommand,
  deeds: readonly { readonly kind: string }[],
): boolean {
  // These go with what is placed, which is looked at by itself: what was leased of it is leased no more, and others in
  // its stead.
  if (deed.kind === 'TrimLease') return true;
  if (deed.kind === 'LeaseGranted' || deed.kind === 'GrantLease') return deeds.some(({ kind }) => kind === 'TrimLease');
  if (deed.kind !== 'ReplicasPlaced' && deed.kind !== 'StartReplicas') return false;
  const machine = state.machines.get(deed.machineId);
  const job = state.jobs.get(deed.jobId);
  if (machine === undefined || job === undefined) return false;
  const count = deed.kind === 'ReplicasPlaced' ? deed.taskIndexes.length : deed.starts.length;
  return machine.heldProcessors - count * job.processors >= machine.processors;
}
