import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { arch, availableParallelism, hostname, totalmem, type } from 'node:os';
import { MutiraoError } from '@mutirao/api/errors';
import type { MachineFacts } from '@mutirao/core/messages';
import type { ResourceCapacity } from '@mutirao/core/resources';
import type { Bytes, ProcessorCount } from '@mutirao/core/shared';
import { findManagerJob } from './manager-variables.ts';

/** Options of an agent about itself. */
export interface FactsOptions {
  /** Name at the provider; empty takes the host's, or the process's place in its allocation. */
  readonly machineId: string;
  readonly providerId: string;
  /** The allocation request that it serves; empty for a time-shared machine. */
  readonly request: string;
  /** 0 for all of the host, or one of an allocation. */
  readonly processors: number;
  readonly site: string;
  /** `NAME=VALUE` each. */
  readonly attributes: readonly string[];
  /** What the machine is known by under any name; empty or left out for what is found. */
  readonly identity?: string;
  /** What it has in addition to processors; left out where that is not known. */
  readonly capacity?: ResourceCapacity;
  /** Processors that it may use, on this host; left out for what the system library finds. */
  readonly processorsFound?: ProcessorCount;
  /** What the resource manager granted on this node, else `processorsFound`; left out likewise. */
  readonly processorsGranted?: ProcessorCount;
  /** Memory that it may use, on this host; left out for all of the host's. */
  readonly memoryFound?: Bytes;
}

/** What was found on a machine that the agent does not run on. */
export interface FoundFacts {
  /** As `uname -s` says it. */
  readonly system: string;
  /** As `uname -m` says it. */
  readonly processor: string;
  readonly hostname: string;
  readonly processors: number;
  /** In MiB; undefined where it is not known. */
  readonly memory: number | undefined;
}

/** Names that Node has for what uname calls otherwise. */
const families: Readonly<Record<string, string>> = {
  x86_64: 'x64',
  amd64: 'x64',
  aarch64: 'arm64',
  i386: 'ia32',
  i686: 'ia32',
};

/**
 * Says what this machine is. Attributes that the owner states win over those that are found.
 *
 * @param found what it is where it is not this host.
 * @throws {MutiraoError} MUT_BAD_CONFIG for an attribute without a name or a value.
 */
export function describeMachine(
  options: FactsOptions,
  environment: Readonly<Record<string, string | undefined>>,
  found?: FoundFacts,
): MachineFacts {
  const until = Number(environment['MUTIRAO_WALLTIME_END_UNIX_MS'] ?? '');
  return {
    machineId: nameMachine(options, environment['MUTIRAO_PROCESS_INDEX']),
    incarnation: randomBytes(8).toString('hex'),
    processors: options.processors > 0 ? options.processors : countFound(options, environment, found),
    attributes: describeAttributes(
      options,
      found === undefined ? ownAttributes(options, environment) : foundAttributes(found),
    ),
    until: Number.isSafeInteger(until) && until > 0 ? until : undefined,
    requestId: options.request,
    identity: identify(options.identity, found?.hostname, environment['MUTIRAO_MACHINE_SLOT']),
    ...(options.capacity === undefined ? {} : { capacity: options.capacity }),
  };
}

/** In an allocation the script of its job says of how many processors: a number, or what the manager granted. */
function countFound(
  { request, processorsFound = availableParallelism(), processorsGranted = processorsFound }: FactsOptions,
  environment: Readonly<Record<string, string | undefined>>,
  found: FoundFacts | undefined,
): ProcessorCount {
  if (request === '') return found?.processors ?? processorsFound;
  const stated = environment['MUTIRAO_MACHINE_PROCESSORS'] ?? '';
  if (stated === 'granted') return processorsGranted;
  return /^[1-9]\d{0,6}$/.test(stated) ? Number(stated) : 1;
}

/**
 * What this host is. In an allocation also what the manager calls its job: tasks see that as `manager_job`, and nothing
 * else of the manager's.
 */
function ownAttributes(
  { request, memoryFound = totalmem() }: FactsOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const job = request === '' ? undefined : findManagerJob(environment);
  const found = {
    os: type().toLowerCase(),
    mem: String(Math.floor(memoryFound / 2 ** 20)),
    hostname: hostname(),
    processorfamily: arch(),
  };
  return job === undefined ? found : { ...found, manager_job: job };
}

function foundAttributes({ system, processor, hostname: name, memory }: FoundFacts): Record<string, string> {
  return {
    os: system.toLowerCase(),
    hostname: name,
    processorfamily: families[processor] ?? processor,
    ...(memory === undefined ? {} : { mem: String(memory) }),
  };
}

function describeAttributes(
  { site, attributes: stated }: FactsOptions,
  found: Readonly<Record<string, string>>,
): Record<string, string> {
  const attributes: Record<string, string> = { ...found };
  if (site !== '') attributes['site'] = site;
  const named = new Set<string>();
  for (const attribute of stated) {
    const [, name = '', value = ''] = /^([^=]+)=(.+)$/s.exec(attribute) ?? [];
    if (name === '') throw new MutiraoError('MUT_BAD_CONFIG', `attribute is "${attribute}"; expected NAME=VALUE`);
    const key = name.trim().toLowerCase();
    if (named.has(key))
      throw new MutiraoError(
        'MUT_BAD_CONFIG',
        `attribute ${key} is given twice, as "${attributes[key] ?? ''}" and "${value.trim()}"; expected it once`,
      );
    named.add(key);
    attributes[key] = value.trim();
  }
  return attributes;
}

/**
 * A host is one machine, whatever its name and however many agents it has: they would err together.
 *
 * @param stated goes before what is found, unless it is empty.
 * @param found the name of another host; undefined for this one.
 * @param slot differs for processors that stand for machines of their own, as on the host of an embedded cluster.
 */
function identify(stated: string = '', found: string | undefined, slot: string = ''): string {
  if (stated !== '') return stated;
  const parts = found === undefined ? [readMachineNumber(), hostname()] : ['remote', found];
  return `h-${createHash('sha256')
    .update([...parts, slot].join('\n'))
    .digest('hex')
    .slice(0, 16)}`;
}

/** The number that the system gave itself when it was installed; empty where there is none. */
function readMachineNumber(): string {
  try {
    return readFileSync('/etc/machine-id', 'utf8').trim();
  } catch {
    return '';
  }
}

function nameMachine({ machineId, providerId, request }: FactsOptions, index: string | undefined): string {
  const name =
    machineId !== ''
      ? machineId
      : request === ''
        ? hostname()
            .replaceAll(/[^\w.-]/g, '-')
            .slice(0, 64)
        : `${request}.${index ?? '0'}`;
  return providerId === '' || name.includes('/') ? name : `${providerId}/${name}`;
}
