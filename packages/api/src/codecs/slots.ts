import type { NodeShape, Slot } from '@mutirao/core/resources';

import type { NodeShape as NodeShapeWire, Slot as SlotWire } from '../generated/mutirao/common/v1/common.ts';
import { limits } from '../limits.ts';
import { badRequest, boundList, boundName, boundNumber, boundProcessors } from './common.ts';

/** Reads what an allocation is made of; nothing is left out. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeSlot(wire: SlotWire | undefined, name: string): { readonly slot?: Slot } {
  if (wire === undefined) return {};
  const { processors, memoryBytes, gpus, gpuKind } = wire;
  if (gpuKind !== '' && gpus === 0)
    throw badRequest(`${name}.gpu_kind is "${gpuKind}" and gpus is 0; expected how many of that GPU`);
  return {
    slot: {
      processors: boundProcessors(processors, 'resourceProcessors', `${name}.processors`),
      memory: boundNumber(memoryBytes, 'memory', `${name}.memory_bytes`),
      gpus: boundNumber(gpus, 'gpus', `${name}.gpus`),
      ...(gpuKind === '' ? {} : { gpuKind: boundName(gpuKind, 'attributeName', `${name}.gpu_kind`).toLowerCase() }),
    },
  };
}

/** Writes what an allocation is made of for the wire; nothing is absent. */
export function encodeSlot(slot: Slot | undefined): SlotWire | undefined {
  if (slot === undefined) return undefined;
  const { processors, memory, gpus, gpuKind = '' } = slot;
  return { processors, memoryBytes: Math.min(memory, limits.memory.max), gpus, gpuKind };
}

/** Reads the nodes of a resource; none are left out. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeNodes(wire: readonly NodeShapeWire[], name: string): { readonly nodes?: NodeShape[] } {
  if (wire.length === 0) return {};
  boundList(wire, 'nodeShapes', name);
  return { nodes: wire.map((node, index) => decodeNode(node, `${name}[${index}]`)) };
}

function decodeNode({ nodes, processors, memoryBytes, gpus }: NodeShapeWire, name: string): NodeShape {
  const kinds = Object.entries(gpus);
  boundList(kinds, 'gpus', `${name}.gpus`);
  return {
    count: boundProcessors(nodes, 'resourceProcessors', `${name}.nodes`),
    processors: boundProcessors(processors, 'resourceProcessors', `${name}.processors`),
    memory: boundNumber(memoryBytes, 'memory', `${name}.memory_bytes`),
    gpus: Object.fromEntries(
      kinds.map(([kind, count]) => [
        boundName(kind, 'attributeName', `${name}.gpus, a kind`).toLowerCase(),
        boundNumber(count, 'gpus', `${name}.gpus`),
      ]),
    ),
  };
}

/** Writes the nodes of a resource for the wire: as many shapes as a peer takes. */
export function encodeNodes(nodes: readonly NodeShape[] | undefined): NodeShapeWire[] {
  return (nodes ?? []).slice(0, limits.nodeShapes.max).map(({ count, processors, memory, gpus }) => ({
    nodes: count,
    processors,
    memoryBytes: memory,
    gpus: { ...gpus },
  }));
}
