import type { ProcessorCount } from '../../../shared/index.ts';
import { takesWork } from '../machines/takes-work.ts';
import { mayObtain } from '../machines/machine-pattern.ts';
import { wouldDo } from '../dispatch/matching.ts';
import { type BrokerMachine, type BrokerProvider, type BrokerState, isHere, type TaskQueue } from '../state.ts';

/** What is known of the size of a provider's resource. */
export interface KnownSize {
  readonly isTimeShared: boolean;
  readonly processors: ProcessorCount;
  /** The most that one task may have. */
  readonly widthMax: ProcessorCount;
}

/**
 * The size of a provider's resource: as it reported; of time-shared machines, of the present ones; of a provider
 * without a report, at least what it has and ever requested at once. Undefined without any of these. Cost: O(machines
 * of the provider, requests if it reports nothing).
 */
export function findSize(state: BrokerState, provider: BrokerProvider): KnownSize | undefined {
  const resourceStatus = provider.resource?.resourceStatus;
  if (resourceStatus !== undefined && !resourceStatus.isTimeShared)
    return resourceStatus.processors === 0
      ? undefined
      : { isTimeShared: false, processors: resourceStatus.processors, widthMax: resourceStatus.widthMax };
  const machines = machinesOf(provider);
  const isTimeShared = resourceStatus?.isTimeShared ?? machines.some(({ facts }) => facts.requestId === '');
  let processors = machines.reduce((sum, machine) => sum + machine.processors, 0);
  if (!isTimeShared) processors = Math.max(processors, widestRequest(state, provider));
  return processors === 0 ? undefined : { isTimeShared, processors, widthMax: processors };
}

/** Whether a provider's resource is one that tasks of a queue could run on, by all that is known of it. */
export function isAvailable(queue: TaskQueue, provider: BrokerProvider, size: KnownSize): boolean {
  const { processors, isGang } = queue;
  if (!takesWork(provider) || size.widthMax < processors) return false;
  if (size.isTimeShared) {
    const suitable = machinesOf(provider).filter(({ facts }) => wouldDo(queue, facts));
    return suitable.reduce((sum, machine) => sum + machine.processors, 0) >= processors;
  }
  return (isGang || widestMachine(provider, size) >= processors) && mayObtain(queue, provider);
}

/**
 * The most processors that one machine of a provider has: those of an allocation have one unless they have shown
 * otherwise, or the provider knows its nodes and requests slots of them.
 */
export function widestMachine(provider: BrokerProvider, { isTimeShared }: KnownSize): ProcessorCount {
  if (isTimeShared) return Math.max(0, ...machinesOf(provider).map(({ processors }) => processors));
  const { nodes = [] } = provider.resource?.resourceStatus ?? {};
  return Math.max(provider.pattern?.processors ?? 1, ...nodes.map(({ processors }) => processors));
}

function machinesOf({ machines }: BrokerProvider): BrokerMachine[] {
  return [...machines.values()].filter((machine) => isHere(machine) && machine.facts.reservation === undefined);
}

function widestRequest({ requests }: BrokerState, { providerId }: BrokerProvider): ProcessorCount {
  let widest = 0;
  for (const request of requests.values())
    if (request.providerId === providerId && request.reservation === undefined)
      widest = Math.max(widest, request.width);
  return widest;
}
