import { MutiraoError } from '@mutirao/api/errors';
import type { GpuDevice, ResourceCapacity } from '@mutirao/core/resources';
import { describeBytes, plural, type Bytes, type ProcessorCount } from '@mutirao/core/shared';
import { shareMemory, type FoundCapacity } from './find-capacity.ts';
import { amdPrefix, type FoundGpu } from './find-gpus.ts';
import type { HostClaims } from './host-claims.ts';
import type { SlotGrant } from './manager-grant.ts';

/** What the owner of a machine states. */
export interface StatedCapacity {
  /** 0 where it is not stated. */
  readonly memory: Bytes;
  /** Undefined where it is not stated. */
  readonly gpus: StatedGpus | undefined;
  readonly named: Readonly<Record<string, number>>;
}

/** GPUs as an owner states them. */
export interface StatedGpus {
  /** What was written. */
  readonly text: string;
  readonly devices: readonly GpuDevice[];
  /** Their ids were written, and not only how many there are. */
  readonly isNamed: boolean;
}

/** What deciding on a capacity needs. */
export interface CapacityOptions {
  /** That the agent offers. */
  readonly processors: ProcessorCount;
  /** Other agents of the same allocation may offer the rest of the host. */
  readonly isAllocation: boolean;
  /** What its slot has; undefined where it is not in one. */
  readonly slot?: SlotGrant | undefined;
}

/** What an agent offers, and which part of it its owner should look at. */
export interface DecidedCapacity {
  readonly capacity: ResourceCapacity;
  readonly warnings: readonly string[];
}

/**
 * Decides what an agent offers in addition to processors: what is stated goes before what was found. A device that
 * another agent of this host offers is left to it.
 *
 * @throws {MutiraoError} MUT_BAD_CONFIG for GPUs that are not there, where others are.
 */
export async function decideCapacity(
  stated: StatedCapacity,
  found: FoundCapacity,
  claims: HostClaims,
  options: CapacityOptions,
): Promise<DecidedCapacity> {
  const chosen = chooseGpus(stated.gpus ?? grantedGpus(options.slot), found.gpus);
  const warnings = [...listDoubts(stated, found), ...doubtSlot(options.slot, found)];
  const gpus: GpuDevice[] = [];
  for (const device of chosen) {
    // The others are of other slots, where the manager does not hide them.
    if (gpus.length === (options.slot?.gpus ?? Infinity)) break;
    if (found.gpus.length === 0 || (await claims.claim(`gpu-${device.id}`))) gpus.push(device);
    else warnings.push(`GPU ${device.id} is left to another agent of this host, which offers it`);
  }
  return { capacity: { memory: chooseMemory(stated, found, options), gpus, named: stated.named }, warnings };
}

/** Devices that the resource manager names are as good as stated. */
function grantedGpus(slot: SlotGrant | undefined): StatedGpus | undefined {
  if (slot?.devices === undefined) return undefined;
  return { text: slot.devices.map(({ id }) => id).join(','), devices: slot.devices, isNamed: true };
}

/**
 * What is stated goes before what its slot has, and that before its part of what was found. A manager that gives a slot
 * less than was requested would end what uses more.
 */
function chooseMemory(
  { memory }: StatedCapacity,
  found: FoundCapacity,
  { processors, isAllocation, slot }: CapacityOptions,
): Bytes {
  if (memory > 0) return memory;
  if (slot !== undefined && slot.memory > 0) return Math.min(slot.memory, found.grantedMemory ?? Infinity);
  return isAllocation ? shareMemory(found, processors) : found.memory;
}

/** Less memory than was requested for the slot. */
function doubtSlot(slot: SlotGrant | undefined, { grantedMemory = Infinity }: FoundCapacity): string[] {
  if (slot === undefined || slot.memory <= grantedMemory) return [];
  return [
    `${describeBytes(slot.memory)} of memory was requested, and the resource manager gave ` +
      `${describeBytes(grantedMemory)}: that is offered`,
  ];
}

/** What is stated beyond what was found. */
function listDoubts({ memory, gpus }: StatedCapacity, found: FoundCapacity): string[] {
  const doubts: string[] = [];
  if (found.memory > 0 && memory > found.memory)
    doubts.push(
      `--memory is ${describeBytes(memory)}, and ${describeBytes(found.memory)} is all that tasks can use here`,
    );
  if (found.gpus.length === 0 && gpus !== undefined && gpus.devices.length > 0)
    doubts.push(`--gpus is ${gpus.text}, and no GPU was found on this host: it is offered as stated`);
  return doubts;
}

/** A number takes the first devices that were found, of the kind that is stated if there are some; ids name them. */
function chooseGpus(stated: StatedGpus | undefined, found: readonly FoundGpu[]): readonly GpuDevice[] {
  if (stated === undefined) return found;
  const { text, devices, isNamed } = stated;
  if (found.length === 0) return devices;
  const alike = found.filter(({ kind }) => kind === devices[0]?.kind);
  const candidates = alike.length > 0 && !isNamed ? alike : found;
  return devices.map(({ id, kind }, index) => {
    const device = isNamed ? found.find((gpu) => gpu.id === id || gpu.id === amdPrefix + id) : candidates[index];
    if (device !== undefined) return kind === '' ? device : { ...device, kind };
    const has = candidates.map((gpu) => `${gpu.id} (${gpu.kind})`).join(', ');
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `--gpus is ${text}, and this host has ${plural(candidates.length, 'GPU')}: ${has}; state those only`,
    );
  });
}
