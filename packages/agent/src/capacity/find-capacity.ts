import type { Bytes } from '@mutirao/core/shared';
import { findGpus, type FoundGpu } from './find-gpus.ts';
import { readGroupLimits } from './group-limits.ts';
import type { HostFiles } from './host-files.ts';
import { readManagerGrant } from './manager-grant.ts';
import { parseAllowedProcessors, parseMemoryTotal } from './parse-limits.ts';

/** What this process may use of its host. */
export interface FoundCapacity {
  /** Numbers of the processors that it may run on, ascending; empty where that is not known. */
  readonly processorIds: readonly number[];
  /** How many of them it may use at once: quotas and the resource manager may allow fewer. At least 1. */
  readonly processors: number;
  /** How many the resource manager granted on this node, to all agents there; as above where it does not say. */
  readonly granted: number;
  /** 0 where it is not known. */
  readonly memory: Bytes;
  /** What the resource manager says that it gave on this node, to all agents there; left out where it does not say. */
  readonly grantedMemory?: Bytes;
  readonly gpus: readonly FoundGpu[];
}

/**
 * Finds what this process may use: its affinity mask, its control groups and what the resource manager granted go
 * before what the host has.
 *
 * @param hostProcessors processors where the system does not say which ones.
 */
export async function findCapacity(
  host: HostFiles,
  environment: Readonly<Record<string, string | undefined>>,
  hostProcessors: number,
): Promise<FoundCapacity> {
  const processorIds = parseAllowedProcessors(host.read('/proc/self/status') ?? '') ?? [];
  const limits = readGroupLimits(host);
  const grant = readManagerGrant(environment);
  const allowed = processorIds.length > 0 ? processorIds.length : hostProcessors;
  const processors = Math.min(allowed, limits.processors ?? allowed, grant.processors ?? allowed);
  const memories = [parseMemoryTotal(host.read('/proc/meminfo') ?? ''), limits.memory, grant.memory].filter(
    (bytes) => bytes !== undefined,
  );
  return {
    processorIds,
    processors: Math.max(1, Math.floor(processors)),
    granted: grant.processors ?? Math.max(1, Math.floor(processors)),
    memory: memories.length === 0 ? 0 : Math.min(...memories),
    ...(grant.memory === undefined ? {} : { grantedMemory: grant.memory }),
    gpus: await findGpus(host, environment),
  };
}

/**
 * The memory of an agent that offers some of the processors that it may use: other agents offer the rest, as where a
 * manager starts one for each processor.
 */
export function shareMemory({ memory, granted }: FoundCapacity, offered: number): Bytes {
  return offered >= granted ? memory : Math.floor((memory * offered) / granted);
}
