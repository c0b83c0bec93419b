import { countSlotsOn, type NodeShape, type Slot } from '@mutirao/core/resources';
import type { GpuSpellings } from '../gpu-spellings.ts';
import type { Bytes, ProcessorCount } from '@mutirao/core/shared';

/** What the agent of a slot uses in addition to what its tasks ask for. */
const agentMemory: Bytes = 128 * 2 ** 20;
const mebibyte: Bytes = 2 ** 20;

/** What flags for slots depend on. */
export interface SlotTerms {
  /** As last read. */
  readonly nodes: readonly NodeShape[];
  readonly gpuSpellings: GpuSpellings;
  /** Options that the user gives, by their full names: what these ask for is not asked for again. */
  readonly given: ReadonlySet<string>;
}

/** The flags of `sbatch` for a request of `width` processors in slots; one task of Slurm is a slot. */
export function slotFlags(width: ProcessorCount, slot: Slot | undefined, terms: SlotTerms): string[] {
  const { nodes, gpuSpellings, given } = terms;
  if (slot === undefined) return [`--ntasks=${width}`];
  const flags = [`--ntasks=${Math.max(1, Math.floor(width / slot.processors))}`, `--cpus-per-task=${slot.processors}`];
  const memory = memoryPerProcessor(slot, nodes);
  if (memory > 0 && !isGiven(given, ['mem', 'mem-per-cpu', 'mem-per-gpu'])) flags.push(`--mem-per-cpu=${memory}M`);
  if (slot.gpus > 0 && !isGiven(given, ['gpus', 'gpus-per-task', 'gpus-per-node', 'gpus-per-socket', 'gres']))
    flags.push(`--gpus-per-task=${gpuPrefix(slot, gpuSpellings)}${slot.gpus}`);
  return flags;
}

function gpuPrefix({ gpuKind }: Slot, spellings: GpuSpellings): string {
  return gpuKind === undefined ? '' : `${spellings.get(gpuKind) ?? gpuKind}:`;
}

function isGiven(given: ReadonlySet<string>, names: readonly string[]): boolean {
  return names.some((name) => given.has(name));
}

/**
 * Memory for each processor in MiB: room for the agent is added as far as nodes have it for as many
 * slots as are counted on them: more could be asked of none. 0 where Slurm does not know the
 * memory of nodes, and would refuse any.
 */
function memoryPerProcessor(slot: Slot, nodes: readonly NodeShape[]): number {
  const able = nodes.filter((node) => node.memory > 0 && countSlotsOn(node, slot) > 0);
  if (slot.memory === 0 || able.length === 0) return 0;
  const wanted = Math.ceil((slot.memory + agentMemory) / mebibyte / slot.processors);
  const shares = able.map((node) => node.memory / mebibyte / (countSlotsOn(node, slot) * slot.processors));
  return Math.max(1, Math.min(wanted, ...shares.map(Math.floor)));
}
