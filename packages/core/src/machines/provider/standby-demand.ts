import { processorsPerMachine, type Demand } from '../../messages/index.ts';
import { keyOfSlot, shapeSlot, type Slot } from '../../resources/index.ts';
import { countIn, type ProcessorCount, type ReplicaId } from '../../shared/index.ts';
import { takesNoWork } from './draining.ts';
import { isStandby, leaseEnd } from './leases.ts';
import { fitsMachines } from './slots.ts';
import { findLeasedGroup, type SpooledLease } from './spooled-lease.ts';
import type { KnownBroker, ProviderState } from './state.ts';
import type { Turn } from './turn.ts';

/** Leased tasks that need the same of a machine. */
export interface LeasedNeed {
  readonly processors: ProcessorCount;
  /** Undefined for a processor and nothing else. */
  readonly slot: Slot | undefined;
  /** Those that run, and those that may still be started. */
  readonly tasks: number;
}

const nothing: Pick<Slot, 'gpus' | 'memory'> = { gpus: 0, memory: 0 };

/**
 * The needs of a standby for the tasks of its broker, those with least first; empty if the provider is not a standby.
 * Tasks that no machine here could run are left out.
 */
export function listNeedsAlone({ state, now }: Pick<Turn, 'state' | 'now'>, broker: KnownBroker): LeasedNeed[] {
  if (!isStandby(broker)) return [];
  const needs = new Map<string, LeasedNeed>();
  const add = (need: Omit<LeasedNeed, 'tasks'>, tasks: number): void => {
    if (tasks === 0) return;
    const key = `${need.processors} ${keyOfSlot(need.slot)}`;
    needs.set(key, { ...need, tasks: tasks + (needs.get(key)?.tasks ?? 0) });
  };
  // While it takes no work it starts nothing of the lease.
  if (now < leaseEnd(broker) && !takesNoWork(state)) addLeft(state, broker.lease, add);
  for (const machine of state.machines.values()) {
    if (machine.brokerId !== broker.brokerId) continue;
    for (const replicaId of machine.held) add(needOf(broker.lease, replicaId), 1);
  }
  return [...needs.values()].sort(compareNeeds);
}

/** Least processors first, then least GPUs, then least memory. */
function compareNeeds(one: LeasedNeed, other: LeasedNeed): number {
  const [{ gpus, memory }, { gpus: otherGpus, memory: otherMemory }] = [one.slot ?? nothing, other.slot ?? nothing];
  return one.processors - other.processors || gpus - otherGpus || memory - otherMemory;
}

function addLeft(
  { config, limits }: ProviderState,
  lease: SpooledLease | undefined,
  add: (need: Omit<LeasedNeed, 'tasks'>, tasks: number) => void,
): void {
  for (const [index, { replicas, processors, resources }] of (lease?.outline.groups ?? []).entries()) {
    const slot = shapeSlot(processors, resources);
    const needed = { processors, ...(slot === undefined ? {} : { slot }) };
    if (config.resourceKind === 'cluster' && !fitsMachines(needed, limits)) continue;
    add({ processors, slot }, countIn(replicas) - (lease?.startedCounts[index] ?? 0));
  }
}

/** What a replica needs that a machine holds; one that is not of the lease, a processor. */
function needOf(lease: SpooledLease | undefined, replicaId: ReplicaId): Omit<LeasedNeed, 'tasks'> {
  const group = lease === undefined ? undefined : findLeasedGroup(lease, replicaId);
  if (group === undefined) return { processors: processorsPerMachine, slot: undefined };
  return { processors: group.processors, slot: shapeSlot(group.processors, group.resources) };
}

/**
 * The demand of a standby: the first need whose tasks do not all run at once in the present requests, or else the first
 * of all.
 *
 * @param countLanes tasks of a need that the broker's requests run at once.
 */
export function chooseNeedAlone(
  needs: readonly LeasedNeed[],
  countLanes: (need: LeasedNeed) => number,
): Pick<Demand, 'pendingTasks' | 'processors' | 'slot'> {
  const [first] = needs;
  if (first === undefined) return { pendingTasks: 0, processors: processorsPerMachine };
  const { tasks, processors, slot } = needs.find((need) => need.tasks > countLanes(need)) ?? first;
  return { pendingTasks: tasks, processors, ...(slot === undefined ? {} : { slot }) };
}
