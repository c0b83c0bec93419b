import { countSlotsOn, plainSlot, type NodeShape, type Slot } from '@mutirao/core/resources';
import { listSpellings, type GpuSpellings } from '../gpu-spellings.ts';
import type { AllocationOrder } from '../resource-manager.ts';
import type { FieldReader } from './field-reader.ts';

const mebibyte = 2 ** 20;

/** Placeholders that say of how many slots a request is, and what each has. */
export const slotPlaceholders = ['slots', 'slot_processors', 'slot_memory_mib', 'slot_gpus', 'slot_gpu_kind'];

/** What slots are made of, as a file says. */
export interface SlotTerms {
  /** Undefined where requests are of single processors. */
  readonly nodes: readonly NodeShape[] | undefined;
  readonly gpuSpellings: GpuSpellings;
}

/**
 * What stands for them. A slot that asks for no memory has its part of a node's, since 0 would mean none to most
 * managers.
 */
export function slotValues(
  { width, slot = plainSlot }: Pick<AllocationOrder, 'width' | 'slot'>,
  { nodes = [], gpuSpellings }: SlotTerms,
): [string, string][] {
  const memory = slot.memory > 0 ? slot.memory : shareOfNode(slot, nodes);
  return [
    ['slots', String(countSlotsOf(width, slot))],
    ['slot_processors', String(slot.processors)],
    ['slot_memory_mib', String(Math.ceil(memory / mebibyte))],
    ['slot_gpus', String(slot.gpus)],
    ['slot_gpu_kind', spellKind(slot.gpuKind, gpuSpellings)],
  ];
}

function spellKind(kind: string | undefined, spellings: GpuSpellings): string {
  return kind === undefined ? '' : (spellings.get(kind) ?? kind);
}

/** Slots of a request; one process is started for each. */
export function countSlotsOf(width: number, { processors }: Slot = plainSlot): number {
  return Math.max(1, Math.floor(width / processors));
}

function shareOfNode(slot: Slot, nodes: readonly NodeShape[]): number {
  const shares = nodes
    .filter((node) => node.memory > 0 && countSlotsOn(node, slot) > 0)
    .map(({ memory, processors }) => Math.floor((memory * slot.processors) / processors / mebibyte) * mebibyte);
  return shares.length === 0 ? 0 : Math.min(...shares);
}

/** Reads nodes as a file describes them, if it does. @throws {MutiraoError} MUT_BAD_CONFIG */
export function readNodes(limits: FieldReader): SlotTerms {
  if (!limits.has('nodes')) return { nodes: undefined, gpuSpellings: new Map() };
  const readers = limits.children('nodes', ['count', 'processors', 'memoryMib', 'gpus']);
  return {
    nodes: readers.map(readNode),
    gpuSpellings: listSpellings(readers.flatMap((node) => (node.has('gpus') ? node.child('gpus').names : []))),
  };
}

function readNode(reader: FieldReader): NodeShape {
  const gpus = reader.has('gpus') ? reader.child('gpus') : undefined;
  return {
    count: reader.has('count') ? readCount(reader, 'count') : 1,
    processors: readCount(reader, 'processors'),
    memory: reader.has('memoryMib') ? readCount(reader, 'memoryMib') * mebibyte : 0,
    gpus: Object.fromEntries(
      (gpus?.names ?? []).map((kind) => [kind.toLowerCase(), readCount(gpus as FieldReader, kind)]),
    ),
  };
}

function readCount(reader: FieldReader, name: string): number {
  const value = reader.raw(name);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= 1_000_000_000
    ? value
    : reader.refuse(name, 'a whole number of 1 or more');
}
