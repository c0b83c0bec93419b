import { availableParallelism } from 'node:os';
import type { MachineFacts } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import type { Logger } from '@mutirao/runtime/log';
import { ProgramFinder } from '@mutirao/runtime/processes';
import { describeMachine, type FactsOptions } from '../machine-facts.ts';
import { decideCapacity, type StatedCapacity } from './decide-capacity.ts';
import { findCapacity } from './find-capacity.ts';
import { HostClaims } from './host-claims.ts';
import { ownHost } from './host-files.ts';
import { listGrantedProcessors, readSlotGrant } from './manager-grant.ts';
import { findPinning, type Pinning } from './pinning.ts';

/** What an agent is configured with about the host that it runs on. */
export interface HostConfig extends Omit<FactsOptions, 'attributes'> {
  readonly attribute: readonly string[];
  readonly memory: Bytes;
  readonly gpus: string;
  readonly resource: readonly string[];
  readonly pin: 'auto' | 'none';
}

/** This host, as an agent offers it. */
export interface PreparedHost {
  readonly facts: MachineFacts;
  /** Undefined where the system places tasks. */
  readonly pinning: Pinning | undefined;
}

/**
 * Finds what this process may use of its host, and claims what agents of one host divide among themselves: until this
 * process ends.
 *
 * @throws {MutiraoError} MUT_BAD_CONFIG
 */
export async function prepareHost(
  config: HostConfig,
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<PreparedHost> {
  const found = await findCapacity(ownHost, environment, availableParallelism());
  const options = {
    ...config,
    attributes: config.attribute,
    processorsFound: found.processors,
    processorsGranted: found.granted,
    ...(found.memory > 0 ? { memoryFound: found.memory } : {}),
  };
  const facts = describeMachine(options, environment);
  const { processors } = facts;
  const decided = await decideCapacity(await readStatedOf(config), found, new HostClaims(), {
    processors,
    isAllocation: config.request !== '',
    slot: config.request === '' ? undefined : readSlotGrant(environment),
  });
  for (const warning of decided.warnings) log.warn({ machine: facts.machineId }, warning);
  const pinning =
    config.pin === 'none'
      ? undefined
      : await findPinning(ownHost, new HostClaims(), {
          processorIds:
            config.request === '' ? found.processorIds : listGrantedProcessors(environment, found.processorIds),
          offered: processors,
          program: new ProgramFinder(environment['PATH'] ?? '/usr/bin:/bin').find('taskset'),
        });
  const { memory, gpus, named } = decided.capacity;
  log.info({ processors, memory, gpus, named, isPinning: pinning !== undefined }, 'capacity of this machine');
  return { facts: { ...facts, capacity: decided.capacity }, pinning };
}

/**
 * Reads what an owner states. What reads the texts is loaded only where there are some: an agent starts once for each
 * node of an allocation. @throws {MutiraoError} MUT_BAD_CONFIG
 */
export async function readStatedOf({
  memory,
  gpus,
  resource,
}: Pick<HostConfig, 'memory' | 'gpus' | 'resource'>): Promise<StatedCapacity> {
  if (gpus === '' && resource.length === 0) return { memory, gpus: undefined, named: {} };
  const { readStated } = await import('./read-stated.ts');
  return { memory, ...readStated(gpus, resource) };
}
