import { type BrokerProvider, type BrokerState, getRequest } from '@mutirao/core/machines/broker';
import { getCapacity, type JobSpec } from '@mutirao/core/messages';
import { distinctReasons, type Fault, type GetReason } from '@mutirao/core/reasons';
import {
  emptyCapacity,
  emptyRequest,
  FreeResources,
  keyOfRequest,
  largerCapacity,
  type NodeShape,
  type ResourceCapacity,
  type ResourceRequest,
} from '@mutirao/core/resources';
import { findNearestWord, type ProcessorCount } from '@mutirao/core/shared';

/** Doubts of one job. */
const doubtsMax = 10;

type Known = Pick<BrokerState, 'machines' | 'providers'>;

/** A machine that is here, that a provider had, or that a node of its resource would be. */
interface KnownMachine {
  readonly processors: ProcessorCount;
  readonly capacity: ResourceCapacity;
  /** Its counted resources are unknown, as those of nodes before a machine has joined. */
  readonly hopesForNamed: boolean;
}

/** What one machine must have for a task. */
interface Wanted {
  readonly processors: ProcessorCount;
  readonly resources: ResourceRequest;
}

/**
 * The processors and resources that a job's tasks request and that no known machine has: none that is here, that
 * providers had before, or that nodes of their resources would be. Nothing if no machine is known, and for tasks with an
 * alternative that some machine has. Tasks wait until such a machine joins. Cost: O(machines + nodes + groups).
 */
export function doubtResources(spec: JobSpec, state: Known): Fault[] {
  const wanted = listWanted(spec);
  if (wanted.length === 0) return [];
  const known = listKnown(state);
  const faults = known.length === 0 ? [] : wanted.flatMap((request) => doubtRequest(request, known));
  return distinctReasons([...doubtGangs(spec, state), ...faults], doubtsMax);
}

/** Tasks on several machines that are wider than all of any provider; nothing while the size of one is unknown. */
function doubtGangs({ gang, processors }: JobSpec, { providers }: Known): readonly Fault[] {
  if (gang !== true || providers.size === 0) return [];
  const [largest, ...others] = [...providers.values()].map((provider) => ({
    providerId: provider.providerId,
    size: sizeOf(provider),
  }));
  if (largest === undefined) return [];
  const { providerId, size } = others.reduce((most, one) => (one.size > most.size ? one : most), largest);
  if (size >= processors) return [];
  return [{ code: 'gang-above-largest-provider', processors, processorsMax: size, providerId }];
}

/** The processors that a provider may ever have; Infinity while unknown. */
function sizeOf({ resource, machines }: BrokerProvider): ProcessorCount {
  const { processors = 0, isTimeShared = false } = resource?.resourceStatus ?? {};
  if (processors === 0 && !isTimeShared) return Infinity;
  const present = [...machines.values()].reduce((sum, machine) => sum + machine.processors, 0);
  return Math.max(present, processors);
}

/** What tasks of each group request, one entry for each kind, with its alternatives. */
function listWanted(spec: JobSpec): (readonly Wanted[])[] {
  const wanted = new Map<string, readonly Wanted[]>();
  for (const group of spec.groups) {
    const requests = Array.from({ length: 1 + (group.alternatives?.length ?? 0) }, (_, alternative) => {
      const { processors, resources = emptyRequest } = getRequest(spec, group, alternative);
      return { processors: spec.gang === true ? 1 : processors, resources };
    });
    wanted.set(
      requests.map(({ processors, resources }) => `${processors} ${keyOfRequest(resources)}`).join(),
      requests,
    );
  }
  return [...wanted.values()];
}

function listKnown({ machines, providers }: Known): KnownMachine[] {
  return [
    ...[...machines.values()].map(({ processors, facts }) => ({
      processors,
      capacity: getCapacity(facts),
      hopesForNamed: false,
    })),
    ...[...providers.values()].flatMap(({ pattern, resource }) => [
      ...(pattern?.capacity === undefined
        ? []
        : [{ processors: pattern.processors, capacity: pattern.capacity, hopesForNamed: false }]),
      ...(resource?.resourceStatus.nodes ?? []).map((node) => machineOf(node, pattern?.capacity)),
    ]),
  ];
}

/** The machine that a node would be; memory that is not known is hoped for, and counted resources until one was seen. */
function machineOf({ processors, memory, gpus }: NodeShape, seen: ResourceCapacity | undefined): KnownMachine {
  const devices = Object.entries(gpus).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, index) => ({ id: `${kind}/${index}`, kind })),
  );
  return {
    processors,
    capacity: { memory: memory === 0 ? Number.MAX_SAFE_INTEGER : memory, gpus: devices, named: seen?.named ?? {} },
    hopesForNamed: seen === undefined,
  };
}

function doubtRequest(requests: readonly Wanted[], known: readonly KnownMachine[]): readonly Fault[] {
  const [first] = requests;
  if (first === undefined || requests.some((wanted) => known.some((machine) => hasAll(machine, wanted)))) return [];
  const widest = known.reduce((most, { processors }) => Math.max(most, processors), 0);
  if (first.processors > widest)
    return [{ code: 'processors-above-widest', processors: first.processors, processorsMax: widest }];
  const most = known.reduce((largest, { capacity }) => largerCapacity(largest, capacity), emptyCapacity);
  const shortage = new FreeResources(most).findShortage(first.resources);
  if (shortage === undefined) return [{ code: 'resources-not-together' }];
  const { kind: resource, name: resourceName, needed, total } = shortage;
  if (total > 0) return [{ code: 'resource-above-largest', resource, resourceName, needed, total }];
  return [{ code: 'resource-nowhere', resource, resourceName, needed, ...suggest(shortage, most) }];
}

function hasAll({ processors, capacity, hopesForNamed }: KnownMachine, wanted: Wanted): boolean {
  const { resources } = wanted;
  const request = hopesForNamed ? { ...resources, named: {} } : resources;
  return processors >= wanted.processors && new FreeResources(capacity).fits(request);
}

/** Names that machines have, and the one that was meant perhaps. */
function suggest(
  { kind, name }: { readonly kind: string; readonly name: string },
  most: ResourceCapacity,
): Pick<GetReason<'resource-nowhere'>, 'similarName' | 'knownNames'> {
  if (kind === 'memory' || (kind === 'gpus' && name === '')) return { knownNames: [] };
  const names = kind === 'named' ? Object.keys(most.named) : most.gpus.map((device) => device.kind);
  const knownNames = [...new Set(names)].filter((one) => one !== '').sort();
  const similarName = findNearestWord(name, knownNames);
  return { knownNames, ...(similarName === undefined ? {} : { similarName }) };
}
