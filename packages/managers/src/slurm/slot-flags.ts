import { countSlotsOn, type NodeShape, type Slot } from '@mutirao/core/resources';
import type { Bytes, ProcessorCount } from '@mutirao/core/shared';

/** What the agent of a slot uses in addition to what its tasks ask for. */
const agentMemory: Bytes = 128 * 2 ** 20;
const mebibyte: Bytes = 2 ** 20;

/** What flags for slots depend on. */
export interface SlotTerms {
  /** As last read. */
  readonly nodes: readonly NodeShape[];
  /** Options that the user gives, by their full names: what these ask for is not asked for again. */
  readonly given: ReadonlySet<string>;
}

/** The flags of `sbatch` for a request of `width` processors in slots; one task of Slurm is a slot. */
export function slotFlags(width: ProcessorCount, slot: Slot | undefined, { nodes, given }: SlotTerms): string[] {
  if (slot === undefined) return [`--ntasks=${width}`];
  const flags = [`--ntasks=${Math.max(1, Math.floor(width / slot.processors))}`, `--cpus-per-task=${slot.processors}`];
  const memory = memoryPerProcessor(slot, nodes);
  if (memory > 0 && !isGiven(given, ['mem', 'mem-per-cpu', 'mem-per-gpu'])) flags.push(`--mem-per-cpu=${memory}M`);
  if (slot.gpus > 0 && !isGiven(given, ['gpus', 'gpus-per-task', 'gpus-per-node', 'gpus-per-socket', 'gres']))
    flags.push(`--gpus-per-task=${slot.gpuKind === undefined ? '' : `${slot.gpuKind}:`}${slot.gpus}`);
  return flags;
}

function isGiven(given: ReadonlySet<string>, names: readonly string[]): boolean {
  return names.some((name) => given.has(name));
}

/**
 * Memory for each processor in MiB: room for the agent is added as far as a node has it. 0 where Slurm does not know the
 * memory of nodes, and would refuse any.
 */
function memoryPerProcessor(slot: Slot, nodes: readonly NodeShape[]): number {
  const able = nodes.filter((node) => node.memory > 0 && countSlotsOn(node, slot) > 0);
  if (slot.memory === 0 || able.length === 0) return 0;
  const least = Math.ceil(slot.memory / mebibyte / slot.processors);
  const wanted = Math.ceil((slot.memory + agentMemory) / mebibyte / slot.processors);
  const most = Math.max(...able.map((node) => Math.floor(node.memory / mebibyte / slot.processors)));
  return Math.max(least, Math.min(wanted, most));
}
