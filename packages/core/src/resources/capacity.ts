import type { Bytes } from '../shared/index.ts';

/** A GPU of a machine. */
export interface GpuDevice {
  /** As its driver names it on that machine: an index or a UUID. Unique there. */
  readonly id: string;
  /** In lower case, such as `a100`; empty where nobody says. */
  readonly kind: string;
}

/** What a machine has in addition to processors. */
export interface ResourceCapacity {
  /** What tasks may use together; 0 where that is not known. */
  readonly memory: Bytes;
  readonly gpus: readonly GpuDevice[];
  /** Amounts of counted resources by name, each 1 or more. */
  readonly named: Readonly<Record<string, number>>;
}

/** A machine of which nothing but its processors is known. */
export const emptyCapacity: ResourceCapacity = { memory: 0, gpus: [], named: {} };

/** Whether two machines have the same, device by device. */
export function isSameCapacity(one: ResourceCapacity | undefined, other: ResourceCapacity | undefined): boolean {
  if (one === other) return true;
  return one !== undefined && other !== undefined && keyOfCapacity(one) === keyOfCapacity(other);
}

function keyOfCapacity({ memory, gpus, named }: ResourceCapacity): string {
  const names = Object.keys(named).sort();
  return JSON.stringify([memory, gpus.map(({ id, kind }) => [id, kind]), names.map((name) => [name, named[name]])]);
}
