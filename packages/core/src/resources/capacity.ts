import type { Bytes } from '../shared/index.ts';

/** A GPU of a machine. */
export interface GpuDevice {
  /** As its driver names it on that machine: an index or a UUID. Unique there. */
  readonly id: string;
  /** In lower case, such as `a100`; empty if unknown. */
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

/** What a machine has that has of each resource the more of two machines. */
export function largerCapacity(one: ResourceCapacity, other: ResourceCapacity): ResourceCapacity {
  const named = new Map(Object.entries(one.named));
  for (const [name, amount] of Object.entries(other.named)) named.set(name, Math.max(amount, named.get(name) ?? 0));
  return {
    memory: Math.max(one.memory, other.memory),
    gpus: moreOfEachKind(one.gpus, other.gpus),
    named: Object.fromEntries(named),
  };
}

function moreOfEachKind(one: readonly GpuDevice[], other: readonly GpuDevice[]): readonly GpuDevice[] {
  const kinds = new Set([...one, ...other].map(({ kind }) => kind));
  return [...kinds].flatMap((kind) => {
    const [own, others] = [one, other].map((list) => list.filter((device) => device.kind === kind));
    return (own?.length ?? 0) >= (others?.length ?? 0) ? (own ?? []) : (others ?? []);
  });
}

/** The total of a number of equal machines; the caller must see to it that no task spans two of them. */
export function multiplyCapacity({ memory, gpus, named }: ResourceCapacity, count: number): ResourceCapacity {
  return {
    memory: memory * count,
    gpus: Array.from({ length: count }, (_, index) =>
      gpus.map(({ id, kind }) => ({ id: `${index}/${id}`, kind })),
    ).flat(),
    named: Object.fromEntries(Object.entries(named).map(([name, amount]) => [name, amount * count])),
  };
}
