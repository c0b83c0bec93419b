import type { Bytes, ProcessorCount } from '@mutirao/core/shared';

/** What a slot has in addition to processors. */
export interface SlotGrant {
  /** 0 where nothing was asked for. */
  readonly memory: Bytes;
  readonly gpus: number;
}

/** What a resource manager says that this node's part of its job has; undefined where it does not say. */
export interface ManagerGrant {
  readonly processors: ProcessorCount | undefined;
  readonly memory: Bytes | undefined;
}

const mebibyte = 2 ** 20;

/** Reads Slurm's variables. Memory is in MiB; 0 means all of the node's. */
export function readManagerGrant(environment: Readonly<Record<string, string | undefined>>): ManagerGrant {
  const processors = readCount(environment['SLURM_CPUS_ON_NODE']);
  const perNode = readCount(environment['SLURM_MEM_PER_NODE']);
  const perProcessor = readCount(environment['SLURM_MEM_PER_CPU']);
  const memory =
    perNode ?? (perProcessor === undefined || processors === undefined ? undefined : perProcessor * processors);
  return { processors, memory: memory === undefined ? undefined : memory * mebibyte };
}

function readCount(text: string | undefined): number | undefined {
  const count = Number(text);
  return text !== undefined && /^\d+$/.test(text) && count > 0 ? count : undefined;
}

/** What the script of a job says of the slot that this agent is in; undefined where it is in none. */
export function readSlotGrant(environment: Readonly<Record<string, string | undefined>>): SlotGrant | undefined {
  const [memory, gpus] = [environment['MUTIRAO_MACHINE_MEMORY_BYTES'], environment['MUTIRAO_MACHINE_GPUS']];
  if (memory === undefined || gpus === undefined) return undefined;
  return { memory: readCount(memory) ?? 0, gpus: readCount(gpus) ?? 0 };
}
