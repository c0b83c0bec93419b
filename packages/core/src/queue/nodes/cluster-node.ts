import { groupNodes, type GpuDevice, type NodeShape, type Slot } from '../../resources/index.ts';
import type { Bytes, ProcessorCount } from '../../shared/index.ts';

/** A node of a cluster whose requests are for slots. */
export interface ClusterNode {
  /** Unique in the cluster. */
  readonly name: string;
  readonly processors: ProcessorCount;
  /** 0 where it is not known: then requests for memory are taken on trust. */
  readonly memory: Bytes;
  readonly gpus: readonly GpuDevice[];
}

/** The part of a request on one node. */
export interface NodePart {
  /** Position of the node in the cluster. */
  readonly node: number;
  readonly slots: number;
  readonly processors: ProcessorCount;
  /** In whole mebibytes. */
  readonly memory: Bytes;
  /** How many devices of each kind. */
  readonly gpus: Readonly<Record<string, number>>;
}

/** Amounts of what a node has. */
export interface NodeAmounts {
  readonly processors: ProcessorCount;
  /** Infinity where it is not known. */
  readonly memory: Bytes;
  /** By kind; each kind of the node has an entry. */
  readonly gpus: ReadonlyMap<string, number>;
}

/** Memory is accounted in whole mebibytes: the profile of a node counts in 31 bits. */
export const mebibyte: Bytes = 2 ** 20;

/** All that a node has. */
export function listAmounts({ processors, memory, gpus }: ClusterNode): NodeAmounts {
  const counts = new Map<string, number>();
  for (const { kind } of gpus) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return { processors, memory: memory === 0 ? Infinity : Math.floor(memory / mebibyte) * mebibyte, gpus: counts };
}

/** Nodes in the form in which slots are requested. */
export function shapeNodes(nodes: readonly ClusterNode[]): NodeShape[] {
  return groupNodes(
    nodes.map((node) => ({
      count: 1,
      processors: node.processors,
      memory: Math.floor(node.memory / mebibyte) * mebibyte,
      gpus: Object.fromEntries(listAmounts(node).gpus),
    })),
  );
}

/**
 * Memory of a slot on a node. A slot that asks for none has the part that belongs to its processors, so that its
 * processes cannot use memory that others asked for.
 */
export function findSlotMemory({ memory, processors }: Slot, node: ClusterNode): Bytes {
  if (memory > 0) return Math.ceil(memory / mebibyte) * mebibyte;
  return Math.floor((node.memory / mebibyte) * (processors / node.processors)) * mebibyte;
}

/** How many slots fit into what is free on a node. */
export function countSlotsIn(free: NodeAmounts, slot: Slot, node: ClusterNode): number {
  let count = Math.floor(free.processors / slot.processors);
  const memory = findSlotMemory(slot, node);
  if (memory > 0 && free.memory < Infinity) count = Math.min(count, Math.floor(free.memory / memory));
  if (slot.gpus > 0) count = Math.min(count, Math.floor(countDevices(free, slot) / slot.gpus));
  return Math.max(0, count);
}

function countDevices({ gpus }: NodeAmounts, { gpuKind }: Slot): number {
  if (gpuKind !== undefined) return gpus.get(gpuKind) ?? 0;
  let count = 0;
  for (const free of gpus.values()) count += free;
  return count;
}

/** The part of a node that a number of slots takes. If any kind of device is allowed, the kind with most free ones. */
export function makePart(
  node: { readonly index: number; readonly node: ClusterNode; readonly free: NodeAmounts },
  slot: Slot,
  slots: number,
): NodePart {
  return {
    node: node.index,
    slots,
    processors: slots * slot.processors,
    memory: slots * findSlotMemory(slot, node.node),
    gpus: chooseDevices(node.free, slot, slots * slot.gpus),
  };
}

function chooseDevices({ gpus }: NodeAmounts, { gpuKind }: Slot, needed: number): Record<string, number> {
  const kinds = [...gpus]
    .filter(([kind]) => gpuKind === undefined || kind === gpuKind)
    .sort(([oneKind, one], [otherKind, other]) => other - one || (oneKind < otherKind ? -1 : 1));
  const chosen: Record<string, number> = {};
  let left = needed;
  for (const [kind, free] of kinds) {
    const taken = Math.min(left, free);
    if (taken > 0) chosen[kind] = taken;
    left -= taken;
  }
  return chosen;
}
