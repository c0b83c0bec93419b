import { processorsPerMachine, type Demand, type ResourceLimits } from '../../messages/index.ts';
import type { Reason } from '../../reasons/index.ts';
import type { DraftedRequest } from '../../requests/index.ts';
import {
  countSlots,
  countSlotsOn,
  countSlotsOnBest,
  holdsSlot,
  isSameSlot,
  plainSlot,
  type Slot,
} from '../../resources/index.ts';
import type { ProcessorCount } from '../../shared/index.ts';
import type { OwnRequest, ProvidedMachine } from './state.ts';

/** As much of a demand as says what its tasks need. */
type Needs = Pick<Demand, 'processors' | 'slot'>;

/**
 * Whether an allocation of a resource can have a machine that runs such tasks. Without a slot they are asked for by
 * single processors, also by a broker that does not know of the nodes yet.
 */
export function fitsMachines({ processors, slot }: Needs, limits: ResourceLimits | undefined): boolean {
  if (limits?.nodes === undefined || slot === undefined) return processors <= processorsPerMachine;
  return countSlots(limits.nodes, slot) > 0;
}

/** The slot to ask for; undefined where single processors do, and where the manager gives nothing else. */
export function slotFor({ slot }: Needs, { nodes }: ResourceLimits): Slot | undefined {
  return nodes === undefined ? undefined : slot;
}

/** Whether tasks that need a slot, undefined for any processor, run in a request. */
export function servesSlot(request: Pick<OwnRequest, 'slot'>, slot: Slot | undefined): boolean {
  return slot === undefined || holdsSlot(request.slot ?? plainSlot, slot);
}

/**
 * What a resource gives of a slot: as many processors as its nodes have slots for, and to one request as many as there
 * are on the nodes that it may have.
 */
export function limitsInSlots(limits: ResourceLimits, slot: Slot | undefined): ResourceLimits {
  if (slot === undefined || limits.nodes === undefined) return limits;
  const processors = Math.min(limits.processors, countSlots(limits.nodes, slot) * slot.processors);
  const ofRequest = countSlotsOnBest(limits.nodes, slot, limits.nodesMax ?? Infinity) * slot.processors;
  const widthMax = Math.floor(Math.min(limits.widthMax, ofRequest, processors) / slot.processors) * slot.processors;
  return { ...limits, processors, widthMax };
}

/** How many tasks a request runs at once. */
export function lanesOf({ width, slot }: Pick<OwnRequest, 'width' | 'slot'>, processors: ProcessorCount): number {
  return slot === undefined
    ? Math.floor(width / processors)
    : Math.floor(width / slot.processors) * Math.floor(slot.processors / processors);
}

/**
 * Processors of a request that each task holds which runs there; of tasks that a broker has no demand for any more, a
 * slot.
 */
export function widthOfTasks({ slot }: Pick<OwnRequest, 'slot'>, demand: Needs | undefined): ProcessorCount {
  if (slot === undefined || demand === undefined) return demand?.processors ?? 1;
  return isSameSlot(slot, demand.slot) ? demand.processors : slot.processors;
}

/** Processors of a machine that are in use, where each of its tasks holds that many. */
export function countBusy(
  { facts, busySince }: Pick<ProvidedMachine, 'facts' | 'busySince'>,
  width: ProcessorCount,
): ProcessorCount {
  return Math.min(facts.processors, busySince.length * width);
}

/** A draft in whole slots and, if the manager gives whole nodes, in all slots of the nodes that it takes. */
export function inWholeSlots(
  { width, reasons }: Pick<DraftedRequest, 'width' | 'reasons'>,
  slot: Slot,
  limits: ResourceLimits,
): Pick<DraftedRequest, 'width' | 'reasons'> {
  const step = slot.processors * slotsPerNode(slot, limits);
  const { widthMax } = limitsInSlots(limits, slot);
  const whole = Math.min(Math.ceil(width / step) * step, Math.max(widthMax, slot.processors));
  return { width: whole, reasons: [...reasons, describeSlots(whole / slot.processors, slot)] };
}

/** Slots of the smallest node that has one, where requests hold whole nodes; else 1. */
function slotsPerNode(slot: Slot, { widthGranularity, nodes = [] }: ResourceLimits): number {
  if (widthGranularity === undefined) return 1;
  const counts = nodes.map((node) => countSlotsOn(node, slot)).filter((count) => count > 0);
  return counts.length === 0 ? 1 : Math.min(...counts);
}

function describeSlots(slots: number, { processors, memory, gpus, gpuKind = '' }: Slot): Reason {
  return { code: 'request-in-slots', slots, processors, memoryBytes: memory, gpus, gpuKind };
}

/** Why no machine of an allocation runs the tasks. */
export function explainMisfit({ processors, slot }: Needs, limits: ResourceLimits | undefined): Reason {
  if (limits?.nodes === undefined || slot === undefined)
    return { code: 'single-processor-machines', taskProcessors: processors };
  const { memory, gpus, gpuKind = '' } = slot;
  return { code: 'no-node-has-slot', processors: slot.processors, memoryBytes: memory, gpus, gpuKind };
}
