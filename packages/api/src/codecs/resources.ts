import type { MachineFacts, ReplicaEnd, TaskTemplate } from '@mutirao/core/messages';
import { isGpuShare, isResourceName, type ResourceRequest, wholeDevice } from '@mutirao/core/resources';

import type { ResourceRequest as ResourceRequestWire } from '../generated/mutirao/common/v1/common.ts';
import type {
  ReplicaUsage as ReplicaUsageWire,
  ResourceCapacity as ResourceCapacityWire,
} from '../generated/mutirao/machine/v1/machine.ts';
import { limits } from '../limits.ts';
import { badRequest, boundList, boundName, boundNumber } from './common.ts';

/**
 * Reads what a task asks for in addition to processors; nothing is left out. @throws {MutiraoError} MUT_BAD_REQUEST
 * with the value found and the value wanted.
 */
export function decodeResources(wire: ResourceRequestWire | undefined, name: string): Pick<TaskTemplate, 'resources'> {
  if (wire === undefined) return {};
  const { memoryBytes, gpuThousandths, gpuKind, named } = wire;
  boundNumber(memoryBytes, 'memory', `${name}.memory_bytes`);
  if (!isGpuShare(gpuThousandths) || gpuThousandths > limits.gpus.max * wholeDevice) {
    throw badRequest(
      `${name}.gpu_thousandths is ${gpuThousandths}; expected 0 to ${wholeDevice}, or a multiple of it up to ` +
        `${limits.gpus.max * wholeDevice}`,
    );
  }
  boundName(gpuKind, 'attributeName', `${name}.gpu_kind`);
  if (gpuKind !== '' && gpuThousandths === 0)
    throw badRequest(`${name}.gpu_kind is "${gpuKind}" and gpu_thousandths is 0; expected how much of that GPU`);
  const request: ResourceRequest = {
    memory: memoryBytes,
    gpus: gpuThousandths,
    ...(gpuKind === '' ? {} : { gpuKind: gpuKind.toLowerCase() }),
    named: decodeNamed(named, `${name}.named`),
  };
  return { resources: request };
}

/** Writes what a task asks for in addition to processors for the wire; nothing is absent. */
export function encodeResources(request: ResourceRequest | undefined): ResourceRequestWire | undefined {
  if (request === undefined) return undefined;
  const { memory, gpus, gpuKind = '', named } = request;
  return { memoryBytes: memory, gpuThousandths: gpus, gpuKind, named: { ...named } };
}

/** Reads what a machine has in addition to processors. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeCapacity(wire: ResourceCapacityWire | undefined, name: string): Pick<MachineFacts, 'capacity'> {
  if (wire === undefined) return {};
  boundList(wire.gpus, 'gpus', `${name}.gpus`);
  const gpus = wire.gpus.map(({ id, kind }, index) => {
    if (boundName(id, 'name', `${name}.gpus[${index}].id`) === '')
      throw badRequest(`${name}.gpus[${index}].id is empty`);
    return { id, kind: boundName(kind, 'attributeName', `${name}.gpus[${index}].kind`).toLowerCase() };
  });
  const twice = gpus.find(({ id }, index) => gpus.findIndex((other) => other.id === id) !== index);
  if (twice !== undefined) throw badRequest(`${name}.gpus has the id "${twice.id}" twice; expected each once`);
  return {
    capacity: {
      memory: boundNumber(wire.memoryBytes, 'memory', `${name}.memory_bytes`),
      gpus,
      named: decodeNamed(wire.named, `${name}.named`),
    },
  };
}

/** Writes what a machine has in addition to processors for the wire. */
export function encodeCapacity(capacity: MachineFacts['capacity']): ResourceCapacityWire | undefined {
  if (capacity === undefined) return undefined;
  const { memory, gpus, named } = capacity;
  return { memoryBytes: memory, gpus: gpus.map(({ id, kind }) => ({ id, kind })), named: { ...named } };
}

/** Reads what a replica used. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeUsage(wire: ReplicaUsageWire | undefined, name: string): Pick<ReplicaEnd, 'usage'> {
  if (wire === undefined) return {};
  return {
    usage: {
      memoryPeak: boundNumber(wire.memoryBytesMax, 'memory', `${name}.memory_bytes_max`),
      processorTime: boundNumber(wire.processorTimeMs, 'duration', `${name}.processor_time_ms`),
    },
  };
}

/** Writes what a replica used for the wire; undefined where it was not measured. */
export function encodeUsage(usage: ReplicaEnd['usage']): ReplicaUsageWire | undefined {
  return usage && { memoryBytesMax: usage.memoryPeak, processorTimeMs: usage.processorTime };
}

/** Names count in any case, as those of attributes do. */
function decodeNamed(wire: Readonly<Record<string, number>>, name: string): Record<string, number> {
  const entries = Object.entries(wire);
  boundList(entries, 'namedResources', name);
  const named: Record<string, number> = {};
  for (const [resource, amount] of entries) {
    const key = boundName(resource, 'attributeName', `${name}, a name`).toLowerCase();
    if (!isResourceName(key))
      throw badRequest(`${name} has the name "${resource}"; expected letters, digits, "-", "_" and "."`);
    if (Object.hasOwn(named, key)) throw badRequest(`${name} has the name "${key}" twice; expected it once`);
    if (amount === 0) throw badRequest(`${name}.${key} is 0; expected 1 or more`);
    named[key] = boundNumber(amount, 'namedAmount', `${name}.${key}`);
  }
  return named;
}
