import { describeBytes, plural, type Bytes, type ProcessorCount } from '../shared/index.ts';
import type { ResourceCapacity } from './capacity.ts';
import { describeGpus } from './describe.ts';
import { type GpuShare, type ResourceRequest, wholeDevice } from './request.ts';

/**
 * The unit of an allocation if its manager knows nodes: processors of one node, and other resources with them. As many
 * tasks run in a slot as it has processors for.
 */
export interface Slot {
  readonly processors: ProcessorCount;
  /** 0 for what the manager gives by itself. */
  readonly memory: Bytes;
  /** Whole devices. */
  readonly gpus: number;
  /** Only devices of this kind; left out, any. */
  readonly gpuKind?: string;
}

/** Nodes of a resource that have the same. */
export interface NodeShape {
  /** How many there are. */
  readonly count: number;
  readonly processors: ProcessorCount;
  /** 0 where it is not known, or not given out. */
  readonly memory: Bytes;
  /** How many devices of each kind. */
  readonly gpus: Readonly<Record<string, number>>;
}

/** The slot if only processors are requested. */
export const plainSlot: Slot = { processors: 1, memory: 0, gpus: 0 };

const mebibyte: Bytes = 2 ** 20;
/** Requests that differ by less share a shape. */
const memoryStep: Bytes = 64 * mebibyte;

/**
 * The slot that one task needs: memory is rounded up, to whole mebibytes of each processor too, since some managers
 * count it so; and part of a device is a whole one. Counted resources are not asked of managers. Undefined for a task
 * that needs one processor and nothing else.
 */
export function shapeSlot(processors: ProcessorCount, request: ResourceRequest | undefined): Slot | undefined {
  const { memory = 0, gpus = 0, gpuKind } = request ?? {};
  if (processors === 1 && memory === 0 && gpus === 0) return undefined;
  return {
    processors,
    memory: roundUp(roundUp(memory, memoryStep), mebibyte * processors),
    gpus: Math.ceil(gpus / wholeDevice),
    ...(gpus === 0 || gpuKind === undefined ? {} : { gpuKind }),
  };
}

function roundUp(value: Bytes, step: Bytes): Bytes {
  return Math.ceil(value / step) * step;
}

/** The slot for as many such tasks as share a device, if a node has what they need together; else for fewer. */
export function packSlot(slot: Slot, share: GpuShare, nodes: readonly NodeShape[]): Slot {
  if (share === 0 || share >= wholeDevice) return slot;
  for (let tasks = Math.min(sharingMax, Math.floor(wholeDevice / share)); tasks > 1; tasks--) {
    const packed = { ...slot, processors: slot.processors * tasks, memory: slot.memory * tasks };
    if (countSlots(nodes, packed) > 0) return packed;
  }
  return slot;
}

/** Tasks that are put together on one device at most. */
const sharingMax = 16;

/** The same text for slots that are the same; empty for none. */
export function keyOfSlot(slot: Slot | undefined): string {
  return slot === undefined ? '' : `${slot.processors}/${slot.memory}/${slot.gpus}/${slot.gpuKind ?? ''}`;
}

/** Whether two slots are the same; undefined is one of single processors. */
export function isSameSlot(one: Slot | undefined, other: Slot | undefined): boolean {
  return keyOfSlot(one) === keyOfSlot(other);
}

/** Whether what fits in the one fits in the other. */
export function holdsSlot(one: Slot, other: Slot): boolean {
  return (
    one.processors >= other.processors &&
    (other.memory === 0 || one.memory >= other.memory) &&
    one.gpus >= other.gpus &&
    (other.gpuKind === undefined || other.gpus === 0 || one.gpuKind === other.gpuKind)
  );
}

/** How many slots nodes hold together while nothing is in use; memory that is not known is hoped for. */
export function countSlots(nodes: readonly NodeShape[], slot: Slot): number {
  return nodes.reduce((sum, node) => sum + node.count * countSlotsOn(node, slot), 0);
}

/** How many slots the best nodes hold together, where an allocation may have this number of nodes. */
export function countSlotsOnBest(nodes: readonly NodeShape[], slot: Slot, nodesMax: number): number {
  const counts = nodes.map((node) => ({ count: node.count, slots: countSlotsOn(node, slot) }));
  let left = nodesMax;
  let sum = 0;
  for (const { count, slots } of counts.sort((one, other) => other.slots - one.slots)) {
    const taken = Math.min(left, count);
    sum += taken * slots;
    left -= taken;
  }
  return sum;
}

/** How many slots one node holds while nothing is in use. */
export function countSlotsOn(node: NodeShape, { processors, memory, gpus, gpuKind }: Slot): number {
  let count = Math.floor(node.processors / processors);
  if (memory > 0 && node.memory > 0) count = Math.min(count, Math.floor(node.memory / memory));
  if (gpus > 0) count = Math.min(count, Math.floor(countDevices(node, gpuKind) / gpus));
  return count;
}

function countDevices({ gpus }: NodeShape, kind: string | undefined): number {
  if (kind !== undefined) return Object.hasOwn(gpus, kind) ? (gpus[kind] as number) : 0;
  return Object.values(gpus).reduce((sum, count) => sum + count, 0);
}

/** What slots have together in addition to processors. */
export function capacityOfSlots({ memory, gpus, gpuKind = '' }: Slot, count: number): ResourceCapacity {
  const devices = Array.from({ length: gpus * count }, (_, index) => ({ id: String(index), kind: gpuKind }));
  return { memory: memory * count, gpus: devices, named: {} };
}

/** Joins nodes that have the same. */
export function groupNodes(nodes: readonly NodeShape[]): NodeShape[] {
  const groups = new Map<string, NodeShape>();
  for (const node of nodes) {
    const key = keyOfNode(node);
    const known = groups.get(key);
    groups.set(key, known === undefined ? node : { ...known, count: known.count + node.count });
  }
  return [...groups.values()];
}

function keyOfNode({ processors, memory, gpus }: NodeShape): string {
  const kinds = Object.keys(gpus).sort();
  return JSON.stringify([processors, memory, kinds.map((kind) => [kind, gpus[kind]])]);
}

/** The same text for resources with the same nodes; empty where they are not known. */
export function keyOfNodes(nodes: readonly NodeShape[] | undefined): string {
  return nodes === undefined ? '' : nodes.map((node) => `${node.count} ${keyOfNode(node)}`).join(' ');
}

/** A slot for people: `4 processors, 8 GiB of memory and 1 a100 GPU`. */
export function describeSlot({ processors, memory, gpus, gpuKind }: Slot): string {
  const parts = [
    plural(processors, 'processor'),
    ...(memory > 0 ? [`${describeBytes(memory)} of memory`] : []),
    ...(gpus > 0 ? [describeGpus(gpus * wholeDevice, gpuKind)] : []),
  ];
  const last = parts.pop() ?? '';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}
