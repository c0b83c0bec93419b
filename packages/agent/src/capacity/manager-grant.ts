import type { GpuDevice } from '@mutirao/core/resources';
import type { Bytes, ProcessorCount } from '@mutirao/core/shared';

/** What a slot has in addition to processors. */
export interface SlotGrant {
  /** 0 where nothing was asked for. */
  readonly memory: Bytes;
  readonly gpus: number;
  /** Which devices these are; undefined where the manager does not say. */
  readonly devices?: readonly GpuDevice[];
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
  const devices = readDevices(environment['MUTIRAO_MACHINE_GPU_DEVICES']);
  return { memory: readCount(memory) ?? 0, gpus: readCount(gpus) ?? 0, ...devices };
}

/** `ID:KIND` each, with an empty kind where it is not known. */
function readDevices(text: string | undefined): Pick<SlotGrant, 'devices'> {
  if (text === undefined) return {};
  const words = text.split(' ').filter((word) => word !== '');
  return {
    devices: words.map((word) => {
      const [id = '', kind = ''] = word.split(':');
      return { id, kind };
    }),
  };
}

/**
 * The processors of the part of a node that this agent has. They are counted among those that this process may use;
 * where they are not all there, as in a cluster that gives out more than its host has, any of these.
 */
export function listGrantedProcessors(
  environment: Readonly<Record<string, string | undefined>>,
  found: readonly number[],
): readonly number[] {
  const text = environment['MUTIRAO_MACHINE_PROCESSOR_IDS'] ?? '';
  const own = text === '' ? [] : text.split(',').map((position) => found[Number(position)]);
  const known = own.filter((id) => id !== undefined);
  return known.length > 0 && known.length === own.length ? known : found;
}
